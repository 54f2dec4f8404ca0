"""Converts the configuration file of the Go Limes to ours, section by section. What has no counterpart is noted."""

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from limes.app.importer.plugin_params import CAPACITY, NO_COUNTERPART, QUOTA, Converter, Note, Notes, mapping, mappings
from limes.app.settings import parse, read_yaml
from limes.kernel.errors import ConfigError

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


class Converted(Struct, frozen=True):
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
        known = "YAML with `services`, as until 2025, or JSON with `liquids`"
        raise ConfigError([f"expected a configuration of the Go Limes: {known}; this is something else"])
    document["database"] = {"url": _DATABASE}
    notes.to_do("database.url", "a new, empty database: the original's has tables of the same names. Mind LIMES_DB_*")
    return Converted(document, tuple(notes.notes), (*_problems(document, folder), *backend_problems(document)))


def _of_2025(original: dict[str, Any], notes: Notes) -> dict[str, Any]:
    source = notes.keep("", original, _SECTIONS_OF_2025)
    document = {"availability_zones": source.get("availability_zones", [])}
    if "discovery" in source:
        document["discovery"] = convert_discovery(source["discovery"], notes)
    services, capacitors, behaviors, groups = convert_liquids(source["liquids"], notes)
    document |= {"services": services, "capacitors": capacitors}
    if behaviors := [*convert_behaviors(source.get("resource_behavior"), notes), *behaviors]:
        document["resource_behavior"] = behaviors
    if groups:
        document["commitments"] = {"conversions": groups}
    distributions = _distributions(source.get("quota_distribution_configs"), notes)
    document["quota_distribution_configs"] = add_default_distribution(distributions, notes)
    for key in ("areas", "rate_behavior"):
        if source.get(key):
            notes.dropped(key, "areas have no other names here" if key == "areas" else "the Resource API has no rates")
    note_mails(source.get("mail_notifications"), notes)
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


# -- of 2025 and later: JSON, with a liquid for each service -----------------------------------------------------------

Entry = dict[str, Any]

_LITERALS = re.compile(r"[\w-]+(?:\|[\w-]+)*")
"""An expression that only lists names."""
_ANY_DOMAIN = (".*", ".+")
_DEFAULT_DISTRIBUTION: Mapping[str, Any] = {
    "resource": ".*",
    "model": "autogrow",
    "autogrow": {"growth_multiplier": 1, "growth_minimum": 0, "usage_data_retention_period": "1s"},
}


def convert_liquids(value: Any, notes: Notes) -> tuple[list[Entry], list[Entry], list[Entry], list[Entry]]:
    """Returns services, capacitors, resource behaviours, and groups of convertible resources."""
    services: list[Entry] = []
    capacitors: list[Entry] = []
    behaviors: list[Entry] = []
    groups: dict[str, Entry] = defaultdict(dict)
    known = (
        *("area", "fixed_capacity_values", "capacity_values_from_prometheus", "rate_limits"),
        "commitment_behavior_per_resource",
    )
    for name, given in mapping(value).items():
        path = f"liquids.{name}"
        liquid = notes.keep(path, mapping(given), known)
        service: Entry = {"service_type": name, "type": "liquid", "params": {"area": liquid.get("area")}}
        if limits := liquid.get("rate_limits"):
            service["rate_limits"] = limits
            notes.to_do(f"{path}.rate_limits", _RATES)
        services.append(service)
        capacitors += _capacitors(path, name, liquid, notes)
        behaviors += _commitment_behaviors(path, name, liquid.get("commitment_behavior_per_resource"), groups, notes)
    if capacitors:
        text = "leave the capacitors of liquids out that report no capacity (hasCapacity in GET /v1/info)"
        notes.to_do("capacitors", text)
    if behaviors:
        text = "true for all commitments: change it to false for resources whose topology is flat in GET /v1/info"
        notes.to_do("resource_behavior[].commitment_is_az_aware", text)
    return services, capacitors, behaviors, list(groups.values())


def _capacitors(path: str, name: str, liquid: Entry, notes: Notes) -> Iterator[Entry]:
    yield {"id": name, "type": "liquid", "params": {"service": name}}
    if fixed := liquid.get("fixed_capacity_values"):
        yield {"id": f"{name}-fixed", "type": "manual", "params": {"values": {name: fixed}}}
        notes.changed(f"{path}.fixed_capacity_values", f"the capacitor {name}-fixed")
    if given := mapping(liquid.get("capacity_values_from_prometheus")):
        here = f"{path}.capacity_values_from_prometheus"
        kept = notes.keep(here, given, ("api", "queries", "allow_zero_capacity"))
        if kept.get("allow_zero_capacity"):
            notes.dropped(f"{here}.allow_zero_capacity", "0 is a capacity like any other here")
        queries = {
            resource: {"query": query, "az_label": "az"} for resource, query in mapping(kept.get("queries")).items()
        }
        params = {"api": kept.get("api"), "queries": {name: queries}}
        yield {"id": f"{name}-prometheus", "type": "prometheus", "params": params}
        notes.changed(here, f"the capacitor {name}-prometheus; the label az of its queries is given")


def _commitment_behaviors(
    path: str, service: str, value: Any, groups: dict[str, Entry], notes: Notes
) -> Iterator[Entry]:
    """Yields behaviours that are equal to a list in which the first match counts; here, all that match do."""
    earlier: list[str] = []
    for index, entry in mappings(value):
        here = f"{path}.commitment_behavior_per_resource[{index}]"
        key, behavior = str(entry.get("key")), mapping(entry.get("value"))
        known = ("durations_per_domain", "min_confirm_date", "until_percent", "conversion_rule")
        behavior = notes.keep(f"{here}.value", behavior, known)
        resource = f"{service}/{_first_match(earlier, key, '$')}"
        earlier.append(key)
        yield from _by_domain(resource, behavior)
        if behavior.get("until_percent") is not None:
            notes.dropped(f"{here}.value.until_percent", "commitments may use the whole capacity here")
        if rule := mapping(behavior.get("conversion_rule")):
            _add_to_group(f"{here}.value.conversion_rule", service, key, rule, groups, notes)


def _by_domain(resource: str, behavior: Entry) -> Iterator[Entry]:
    domains: list[str] = []
    for _, entry in mappings(behavior.get("durations_per_domain")):
        key, durations = str(entry.get("key")), entry.get("value")
        scope = _first_match(domains, key, "(?:/|$)")
        domains.append(key)
        if not durations:
            continue
        converted: Entry = {"resource": resource}
        if scope not in _ANY_DOMAIN:
            converted["scope"] = f"{scope}(?:/.*)?"
        converted |= {"commitment_durations": durations, "commitment_is_az_aware": True}
        if date := behavior.get("min_confirm_date"):
            converted["commitment_min_confirm_date"] = date
        yield converted


def _first_match(earlier: list[str], key: str, end: str) -> str:
    """Returns an expression for what matches `key` and none of the earlier ones. `end` matches where a name ends."""
    others = f"(?!(?:{'|'.join(earlier)}){end})" if earlier else ""
    return f"{others}(?:{key})" if others or "|" in key else key


def _add_to_group(path: str, service: str, key: str, rule: Entry, groups: dict[str, Entry], notes: Notes) -> None:
    if _LITERALS.fullmatch(key):
        group = groups[str(rule.get("identifier"))]
        group |= {f"{service}/{name}": rule.get("weight", 1) for name in key.split("|")}
    else:
        text = f"add each resource that {key!r} means to a group of commitments.conversions, with {rule.get('weight')}"
        notes.to_do(path, text)


def convert_discovery(value: Any, notes: Notes) -> Entry:
    kept = notes.keep("discovery", mapping(value), ("method", "except_domains", "only_domains", "static_config"))
    static = mapping(kept.pop("static_config", None))
    if static:
        projects = mapping(static.get("projects"))
        domains = [
            {"id": domain.get("id"), "name": domain.get("name"), "projects": projects.get(str(domain.get("id")), [])}
            for _, domain in mappings(static.get("domains"))
        ]
        kept["params"] = {"domains": domains}
        notes.changed("discovery.static_config", "discovery.params, with the projects within their domains")
    return kept


def convert_behaviors(value: Any, notes: Notes) -> list[Entry]:
    behaviors = []
    for index, entry in mappings(value):
        path = f"resource_behavior[{index}]"
        kept = notes.keep(path, entry, ("resource", "overcommit_factor", "identity_in_v1_api", "category"))
        if identity := kept.pop("identity_in_v1_api", None):
            text = f"clients see the liquid's own name here, and not {identity}: tell their users"
            notes.to_do(f"{path}.identity_in_v1_api", text)
        if kept.pop("category", None):
            notes.dropped(f"{path}.category", "categories come from the liquid")
        if len(kept) > 1:
            behaviors.append(kept)
    return behaviors


def add_default_distribution(distributions: list[Entry], notes: Notes) -> list[Entry]:
    """Returns them with what those releases do where none matches."""
    if any(entry.get("resource") == ".*" for entry in distributions):
        return distributions
    text = "added: without an entry that matches, quota covers usage and commitments there, and people set it here"
    notes.changed("quota_distribution_configs", text)
    return [*distributions, {**_DEFAULT_DISTRIBUTION}]


def note_mails(value: Any, notes: Notes) -> None:
    if mapping(value):
        text = "give the endpoint as a sink of type mail_api in notifications, and write your texts as its templates"
        notes.to_do("mail_notifications", text)
