"""Finding plugins, and making the configured backends from them."""

from importlib.metadata import EntryPoint
from typing import Any, Never

import pytest
from limes_plugins.static import plugin as static_plugin

from limes.backends import BackendError, ConfigError, NoParams, Offer, Plugin, calls
from limes.backends.loader import ENTRY_POINT_GROUP, BackendSpec, Plugins, load
from tests.backends.conftest import AZS, STATIC_DISCOVERY, load_capacity, load_quota

not_a_plugin = "text"


def needs_a_file(params: Any, context: Any) -> Never:
    raise ConfigError(["path: no such file", "mode: unknown mode"])


refusing_plugin = Plugin("refuses", quota=Offer(NoParams, needs_a_file))


def plugins(**values: str) -> Plugins:
    return Plugins(EntryPoint(name, value, ENTRY_POINT_GROUP) for name, value in values.items())


def test_shipped_plugins_are_installed_and_can_be_loaded() -> None:
    installed = Plugins()
    assert {"list", "manual", "static"} <= set(installed.names)
    assert all(installed.get(name).description for name in installed.names)
    assert installed.get("static") is static_plugin


def test_every_problem_is_reported_with_its_path() -> None:
    services = [
        BackendSpec("services[0]", "compute", "novel", {}),
        BackendSpec("services[1]", "storage", "static", {"area": "storage", "resources": {"ram": {"unit": "mb"}}}),
        BackendSpec("services[2]", "network", "manual", {}),
    ]
    capacitors = [BackendSpec("capacitors[0]", "by-hand", "manual", {"values": {}, "color": "red"})]
    discovery = BackendSpec("discovery", "sattelite", "sattelite", {}, "method")
    with pytest.raises(ConfigError) as error:
        load(services, capacitors, discovery, availability_zones=AZS)
    known = ", ".join(Plugins().names)
    quota = ", ".join(Plugins().offering("quota"))
    assert error.value.problems == [
        f"services[0].type: there is no plugin 'novel' (installed are: {known}); did you mean nova?",
        "services[1].params.resources.ram.unit: expected '', 'B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB' or 'EiB', not 'mb'",
        f"services[2].type: the plugin 'manual' offers no quota (those that do: {quota})",
        "capacitors[0].params.values: at least one is needed",
        "capacitors[0].params.color: unknown key",
        f"discovery.method: there is no plugin 'sattelite' (installed are: {known})",
    ]


def test_a_plugin_may_refuse_params_that_its_model_accepts() -> None:
    found = plugins(refusing="tests.backends.test_loader:refusing_plugin", static="limes_plugins.static:plugin")
    with pytest.raises(ConfigError) as error:
        load_quota("refusing", {}, plugins=found)
    assert error.value.problems == ["services[0].params.path: no such file", "services[0].params.mode: unknown mode"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no_such_module:plugin", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("limes_plugins.static:plugin_x", "has no attribute 'plugin_x'"),
        ("tests.backends.test_loader:not_a_plugin", "is not a limes.backends.Plugin"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_a_problem(value: str, problem: str) -> None:
    found = plugins(broken=value, static="limes_plugins.static:plugin")
    with pytest.raises(ConfigError) as error:
        load_capacity("broken", {}, plugins=found)
    assert len(error.value.problems) == 1
    assert error.value.problems[0].startswith("capacitors[0].type: the plugin 'broken'")
    assert problem in error.value.problems[0]
    assert found.offering("discovery") == ["static"]


def test_without_keystone_plugins_that_need_one_load_but_fail_to_answer() -> None:
    spec = BackendSpec("discovery", "list", "list", {}, "method")
    backend = load([], [], spec, availability_zones=AZS).discovery
    with pytest.raises(BackendError) as error:
        calls.list_domains(backend, None, None)
    assert str(error.value) == ("while listing domains: a Keystone session is needed, but no Keystone is configured")


def test_loading_twice_makes_separate_backends() -> None:
    params = {"area": "a", "resources": {"things": {"quota": 1}}}
    one, two = load_quota("static", params).quota["compute"], load_quota("static", params).quota["compute"]
    assert one is not two
    assert load([], [], STATIC_DISCOVERY, availability_zones=AZS).quota == {}


def test_params_of_volumes_are_checked() -> None:
    with pytest.raises(ConfigError) as caught:
        load_quota("volumev2", {"volume_types": ["a", "a"]})
    assert "services[0].params.volume_types: the volume type 'a' is given more than once" in str(caught.value)
    pools = {name: {"volume_backend_name": name, "default": True} for name in ("a", "b")}
    with pytest.raises(ConfigError) as caught:
        load_capacity("cinder", {"volume_types": pools})
    assert "more than one is the default" in str(caught.value)
