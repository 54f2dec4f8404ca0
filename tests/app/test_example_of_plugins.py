"""config/limes.yaml shows every option of every plugin that is shipped, and all that it shows is valid."""

import re
import typing
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from limes_plugins.openstack.params import AuthParams, ConnectionParams
from pydantic import BaseModel

from limes.backends.loader import BackendSpec, Plugins, load

ROOT = Path(__file__).parents[2]
PLUGINS = Plugins()
KINDS = {"services": "quota", "capacitors": "capacity", "discovery": "discovery"}


def _uncommented() -> dict[str, list[dict[str, Any]]]:
    """The entries that name plugins, with those that are commented out: lines that begin with `#` and no blank."""
    text = re.sub(r"^( *)#(?=\S)", r"\1", (ROOT / "config" / "limes.yaml").read_text(), flags=re.MULTILINE)
    sections = re.findall(r"^(discovery|services|capacitors):\n((?:(?: .*|#.*)?\n)+)", text, re.MULTILINE)
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, lines in sections:
        section = yaml.safe_load(lines)
        found[name] += section if isinstance(section, list) else [section]
    return found


ENTRIES = _uncommented()


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


def _options(model: type[BaseModel]) -> set[str]:
    """The keys of a model and of all models in it, without those that all plugins for OpenStack services have."""
    common = set(ConnectionParams.model_fields) if issubclass(model, ConnectionParams) else set()
    fields = {name: field for name, field in model.model_fields.items() if name not in common}
    inner = {one for field in fields.values() for one in _models_in(field.annotation)}
    return {field.alias or name for name, field in fields.items()}.union(*map(_options, inner))


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _models_in(part)


def _shown(section: str, plugin: Any) -> set[str]:
    key = "method" if section == "discovery" else "type"
    entries = [one for one in ENTRIES[section] if PLUGINS.get(one[key]) is plugin]
    return _keys([one.get("params") for one in entries])


@pytest.mark.parametrize("section", KINDS)
@pytest.mark.parametrize("name", PLUGINS.names)
def test_every_option_is_shown(name: str, section: str) -> None:
    plugin = PLUGINS.get(name)
    offer = getattr(plugin, KINDS[section])
    if offer is not None:
        assert _options(offer.params) - _shown(section, plugin) == set()


def test_the_common_options_are_shown() -> None:
    shown = {key for entry in ENTRIES["services"] for key in _keys(entry)}
    assert {*ConnectionParams.model_fields, *AuthParams.model_fields} <= shown


def test_all_that_is_shown_is_valid() -> None:
    """Where options exclude each other, the file shows one of them and has the others commented out."""
    for section, name_key in (("services", "service_type"), ("capacitors", "id")):
        for entry in ENTRIES[section]:
            params = {key: value for key, value in entry["params"].items() if key not in ("auth", "endpoint")}
            for api in [params["api"]] if "api" in params else []:
                api.pop("token")
            spec = BackendSpec(section, entry[name_key], entry["type"], params)
            lists = ([spec], []) if section == "services" else ([], [spec])
            load(
                *lists,
                BackendSpec("discovery", "list", "list", plugin_key="method"),
                availability_zones=["west-1", "west-2"],
            )
    for entry in ENTRIES["discovery"]:
        spec = BackendSpec("discovery", entry["method"], entry["method"], entry["params"], plugin_key="method")
        load([], [], spec, availability_zones=["west-1", "west-2"])
