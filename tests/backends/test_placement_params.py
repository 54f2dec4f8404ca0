"""What the plugin `placement` accepts as params."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import ConfigError, ResourceDef, Unit
from limes.backends.loader import Backends
from tests.backends.conftest import load_capacity, load_quota

SERVICE = {"area": "compute", "resources": {"cores": "VCPU"}}
CAPACITY = {"service": "compute", "resources": {"cores": "VCPU"}}


def problems(load: Callable[..., Backends], params: dict[Any, Any]) -> list[Any]:
    with pytest.raises(ConfigError) as error:
        load("placement", params)
    return [problem.partition(".params")[2] for problem in error.value.problems]


def test_units_follow_the_resource_classes() -> None:
    resources = {"ram": "MEMORY_MB", "disk": {"class": "DISK_GB"}, "cores": {"class": "VCPU"}}
    service = load_quota("placement", {**SERVICE, "resources": resources}).quota["compute"].describe()
    assert service.resources == {
        "ram": ResourceDef("ram", Unit.MIB, tracks_quota=False),
        "disk": ResourceDef("disk", Unit.GIB, tracks_quota=False),
        "cores": ResourceDef("cores", tracks_quota=False),
    }


@pytest.mark.parametrize("store", ["placement", "keystone_limits"])
def test_resources_track_quota_where_there_is_a_store(store: str) -> None:
    service = load_quota("placement", {**SERVICE, "quota": {"store": store}}).quota["compute"].describe()
    assert service.resources == {"cores": ResourceDef("cores", tracks_quota=True)}


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"resources": {}}, ".resources: at least one is needed"),
        ({"resources": {"cores": "vcpu"}}, ".resources.cores.class: expected the name of a resource class"),
        (
            {"resources": {"ram": {"class": "MEMORY_MB", "unit": "GiB"}}},
            ".resources.ram: MEMORY_MB is counted in MiB, so the unit must be MiB",
        ),
        (
            {"resources": {"a": "VCPU", "b": "VCPU"}},
            ".resources: the resource class VCPU is given to more than one resource",
        ),
        ({"auth": {"type": "token"}}, ".auth: a token must be given if, and only if, the type is 'token'"),
        ({"auth": {"type": "none", "token": "x"}}, ".auth: a token must be given if, and only if, the type is 'token'"),
        ({"auth": {"type": "none"}}, ": without a Keystone session the endpoint must be given"),
        ({"quota": {"store": "disk"}}, ".quota.store: expected 'placement', 'keystone_limits' or 'none'"),
        (
            {"quota": {"store": "placement", "region_id": "r"}},
            ".quota: the other keys go with the store 'keystone_limits' only",
        ),
        (
            {"quota": {"store": "keystone_limits", "limit_names": {"ram": "x"}}},
            ": quota.limit_names: there is no resource 'ram'",
        ),
        ({"availability_zones": {"az-nine": "a"}}, ".availability_zones.az-nine: is not one of the configured ones"),
        ({"max_age": -1}, ".max_age: "),
        ({"requests_per_scrape": 0}, ".requests_per_scrape: "),
        ({"consumer_types": {"only": ["INSTANCE"]}}, ".consumer_types.only: unknown key"),
    ],
)
def test_wrong_service_params(params: dict[str, Any], problem: str) -> None:
    found = problems(load_quota, {**SERVICE, **params})
    assert len(found) == 1
    assert found[0].startswith(problem)


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"availability_zones": {"az-nine": "a"}}, ".availability_zones.az-nine: is not one of the configured ones"),
        (
            {"availability_zones": {"az-one": "a", "az-two": ["b", "a"]}},
            ".availability_zones: the aggregate a is given more than once",
        ),
        ({"availability_zones": {"az-one": []}}, ".availability_zones.az-one: at least one is needed"),
        (
            {"availability_zones": {"az-one": {}}},
            ".availability_zones.az-one: at least one is needed: aggregates, traits or name_pattern",
        ),
        ({"availability_zones": {"az-one": {"hosts": ["a"]}}}, ".availability_zones.az-one.hosts: unknown key"),
        ({"availability_zones": {"az-one": 5}}, ".availability_zones.az-one: "),
        (
            {"availability_zones": {"az-one": {"traits": "HW"}, "az-two": {"traits": ["HW"]}}},
            ".availability_zones: the trait HW is given more than once",
        ),
        (
            {"availability_zones": {"az-one": {"name_pattern": "("}}},
            ".availability_zones.az-one.name_pattern: is not a regular expression: ",
        ),
        ({"availability_zones": {"az-one": {"traits": ["low"]}}}, ".availability_zones.az-one.traits[0]: expected the"),
        ({"availability_zones_from_nova": {"place": 1}}, ".availability_zones_from_nova.place: unknown key"),
        ({"traits": {"required": ["nova"]}}, ".traits.required[0]: expected the name of a trait"),
        ({"resources": {"cores": {"class": "VCPU"}}}, ".resources.cores: expected a text"),
    ],
)
def test_wrong_capacity_params(params: dict[str, Any], problem: str) -> None:
    found = problems(load_capacity, {**CAPACITY, **params})
    assert len(found) == 1
    assert found[0].startswith(problem)


def test_the_token_is_not_shown() -> None:
    auth = {"type": "token", "token": "secret-word"}
    with pytest.raises(ConfigError) as error:
        load_quota("placement", {**SERVICE, "auth": auth, "endpoint": 5})
    assert "secret-word" not in str(error.value)
