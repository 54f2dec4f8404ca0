"""Converts the configuration file of the Go Limes to ours, section by section. What has no counterpart is noted."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from limes.errors import ConfigError
from limes.importer import liquids
from limes.importer.plugin_params import CAPACITY, NO_COUNTERPART, QUOTA, Converter, Note, Notes, mapping, mappings
from limes.settings import parse, read_yaml

_DATABASE = "postgresql://limes@localhost/limes_new"
_RATES = "kept, but nothing shows or applies it: the Resource API has no rates"
_BEHAVIOR = (
    *("resource", "scope", "max_burst_multiplier", "overcommit_factor", "scales_with", "scaling_factor"),
    *("min_nonzero_project_quota", "commitment_durations", "commitment_is_az_aware", "commitment_min_confirm_date"),
    "annotations",
)
_SECTIONS_OF_2025 = (
    *("availability_zones", "discovery", "areas", "liquids", "resource_behavior", "rate_behavior"),
    *("quota_distribution_configs", "mail_notifications"),
)
_AUTOGROW = (
    *("growth_multiplier", "growth_minimum", "project_base_quota", "usage_data_retention_period"),
    *("allow_quota_overcommit", "allow_quota_overcommit_until_allocated_percent"),
)


@dataclass(frozen=True, slots=True)
class Converted:
    """Our document, notes for the operator, and the problems that `limes config check` will report."""

    document: dict[str, Any]
    notes: tuple[Note, ...]
    problems: tuple[str, ...]


def read_original(path: Path) -> Any:
    """Returns the document in a file, YAML or JSON. Raises `ConfigError` naming the file and the place."""
    try:
        return orjson.loads(path.read_bytes())  # which may have tabs, unlike YAML
    except (OSError, orjson.JSONDecodeError):
        return read_yaml(path)


def convert(original: Any, folder: Path, backend_problems: Callable[[Any], list[str]]) -> Converted:
    """Converts a document. Relative paths count from `folder`; `backend_problems` says what plugins find wrong with the
    result. Raises `ConfigError` if it is not a configuration of the original."""
    source, notes = copy.deepcopy(mapping(original)), Notes()
    if "services" in source:
        kept = notes.keep("", source, list(_SECTIONS))
        document = {key: change(kept[key], notes) for key, change in _SECTIONS.items() if key in kept}
    elif "liquids" in source:
        document = _of_2025(source, notes)
    else:
        raise ConfigError(
            [
                "expected a configuration of the Go Limes: YAML with `services`, as until 2025, or JSON with `liquids`;"
                " this is something else"
            ]
        )
    document["database"] = {"url": _DATABASE}
    notes.to_do("database.url", "a new, empty database: the original's has tables of the same names. Mind LIMES_DB_*")
    return Converted(document, tuple(notes.notes), (*_problems(document, folder), *backend_problems(document)))


def _of_2025(original: dict[str, Any], notes: Notes) -> dict[str, Any]:
    source = notes.keep("", original, _SECTIONS_OF_2025)
    document = {"availability_zones": source.get("availability_zones", [])}
    if "discovery" in source:
        document["discovery"] = liquids.convert_discovery(source["discovery"], notes)
    services, capacitors, behaviors, groups = liquids.convert_liquids(source["liquids"], notes)
    document |= {"services": services, "capacitors": capacitors}
    if behaviors := [*liquids.convert_behaviors(source.get("resource_behavior"), notes), *behaviors]:
        document["resource_behavior"] = behaviors
    if groups:
        document["commitments"] = {"conversions": groups}
    distributions = _distributions(source.get("quota_distribution_configs"), notes)
    document["quota_distribution_configs"] = liquids.add_default_distribution(distributions, notes)
    for key in ("areas", "rate_behavior"):
        if source.get(key):
            notes.dropped(key, "areas have no other names here" if key == "areas" else "the Resource API has no rates")
    liquids.note_mails(source.get("mail_notifications"), notes)
    return document


def _problems(document: dict[str, Any], folder: Path) -> list[str]:
    try:
        parse(copy.deepcopy(document), {}, folder)
    except ConfigError as error:
        return error.problems
    return []


def _keep(section: str, *known: str) -> Callable[[Any, Notes], Any]:
    return lambda value, notes: notes.keep(section, mapping(value), known)


def _plugged(section: str, known: Mapping[str, Converter], *keys: str) -> Callable[[Any, Notes], Any]:
    """For entries that name plugins. Those whose plugin has no counterpart are left out."""

    def convert_all(value: Any, notes: Notes) -> Any:
        entries = []
        for index, entry in mappings(value):
            path = f"{section}[{index}]"
            kept = notes.keep(path, entry, keys)
            if kept.get("rate_limits"):
                notes.to_do(f"{path}.rate_limits", _RATES)
            if _convert_params(path, kept, known, notes):
                entries.append(kept)
        return entries

    return convert_all


def _convert_params(path: str, entry: dict[str, Any], known: Mapping[str, Converter], notes: Notes) -> bool:
    """Converts the params of an entry. False if its plugin has no counterpart."""
    plugin = str(entry.get("type"))
    if plugin not in known:
        why = NO_COUNTERPART.get(plugin, "the original has no such plugin, either")
        notes.dropped(path, f"{entry.get('service_type') or entry.get('id')} (type {plugin}): {why}")
        return False
    params = known[plugin](f"{path}.params", mapping(entry.get("params")), notes)
    entry.pop("params", None)
    if params:
        entry["params"] = params
    return True


def _behaviors(value: Any, notes: Notes) -> Any:
    return [notes.keep(f"resource_behavior[{index}]", entry, _BEHAVIOR) for index, entry in mappings(value)]


def _distributions(value: Any, notes: Notes) -> list[dict[str, Any]]:
    kept = []
    for index, entry in mappings(value):
        path = f"quota_distribution_configs[{index}]"
        distribution = notes.keep(path, entry, ("resource", "model", "strict_domain_quota_limit", "autogrow"))
        if "autogrow" in distribution:
            given = mapping(distribution["autogrow"])
            distribution["autogrow"] = notes.keep(f"{path}.autogrow", given, _AUTOGROW)
        kept.append(distribution)
    if any(entry.get("model") == "autogrow" for entry in kept):
        text = "if the original has LIMES_QUOTA_OVERRIDES_PATH: set it, or this, to the same file"
        notes.to_do("quota_overrides_path", text)
    return kept


def _lowpriv(value: Any, notes: Notes) -> Any:
    known = ("limits", "except_projects_in_domains", "only_projects_in_domains")
    kept = notes.keep("lowpriv_raise", mapping(value), known)
    if "limits" in kept:
        kept["limits"] = notes.keep("lowpriv_raise.limits", mapping(kept["limits"]), ("domains", "projects"))
    return kept


_SECTIONS: Mapping[str, Callable[[Any, Notes], Any]] = {
    "availability_zones": lambda value, notes: value,
    "catalog_url": lambda value, notes: value,
    "discovery": _keep("discovery", "method", "except_domains", "only_domains", "params"),
    "services": _plugged("services", QUOTA, "service_type", "type", "params", "rate_limits"),
    "capacitors": _plugged("capacitors", CAPACITY, "id", "type", "params"),
    "lowpriv_raise": _lowpriv,
    "resource_behavior": _behaviors,
    "bursting": _keep("bursting", "max_multiplier"),
    "quota_distribution_configs": _distributions,
}
"""The original's sections, in the order in which ours are written."""
