"""Checks what a backend reports against what it has declared, and makes its AZs the configured ones.

Decisions: a figure that is missing, negative or of a wrong type is a `BackendError`, and the whole report is dropped.
A figure above the largest amount becomes the largest amount, and a quota becomes unlimited, since this is how backends
say that there is no limit. An undeclared resource is left out, with a log line: for capacity this is normal (a source
may know more than is configured); for usage it hints at a bug of the plugin, which is no reason to lose other figures.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from msgspec import structs

from limes.backends import base
from limes.catalog.catalog import ANY_AZ, Catalog, ResourceDef, ServiceDef
from limes.kernel.errors import BackendError
from limes.kernel.units import MAX_AMOUNT

log = logging.getLogger(__name__)

_LONGEST_STATE = 1_000_000


def validate_usage(report: base.UsageReport, service: ServiceDef, catalog: Catalog) -> base.UsageReport:
    """Returns the report with exactly the service's resources, each with the configured AZs, `any` always among them.
    Raises `BackendError` that names the service, the resource and what is wrong."""
    where = f"service {service.type}"
    _require(
        isinstance(report, base.UsageReport), where, f"the report is a {type(report).__name__}, expected a UsageReport"
    )
    for name in sorted(set(report.resources) - set(service.resources)):
        log.warning("%s: the usage report has the resource %r, which the plugin did not declare", where, name)
    missing = sorted(set(service.resources) - set(report.resources))
    _require(not missing, where, f"the usage report lacks {', '.join(map(repr, missing))}")
    state = report.state
    valid = isinstance(state, str) and len(state) <= _LONGEST_STATE and "\0" not in state
    _require(valid, where, f"the state is no text of up to {_LONGEST_STATE} characters without NUL")
    resources = {
        name: _checked_usage(report.resources[name], definition, f"{where}, resource {name}", catalog)
        for name, definition in service.resources.items()
    }
    return base.UsageReport(resources, state)


def _checked_usage(
    usage: base.ResourceUsage, definition: ResourceDef, where: str, catalog: Catalog
) -> base.ResourceUsage:
    _require(isinstance(usage, base.ResourceUsage), where, f"is a {type(usage).__name__}, expected a ResourceUsage")
    if definition.tracks_quota:
        _require(usage.quota is not None, where, "the quota is missing")
    else:
        _require(usage.quota is None, where, "has a quota, but was declared without one")
    quota = usage.quota
    if quota is not None and not isinstance(quota, base.Unlimited):
        _check_amount(quota, where, "quota")
        quota = base.limited(quota)
    _check_bounds(usage, where)
    per_az = {ANY_AZ: _NOTHING}
    for az, reported in _az_items(usage.per_az, base.AZUsage, where):
        checked, known = _checked_az(reported, where, az), catalog.az_of(az)
        if known in per_az and per_az[known] is not _NOTHING:
            checked = _cut(base.add_usage(per_az[known], checked))
        per_az[known] = checked
    return base.ResourceUsage(per_az, quota, _at_most(usage.min_quota), _at_most(usage.max_quota))


_NOTHING = base.AZUsage(0)


def _checked_az(reported: base.AZUsage, where: str, az: str) -> base.AZUsage:
    is_simple = reported.physical_usage is None and reported.subresources == ()
    if is_simple and type(reported.usage) is int and 0 <= reported.usage <= MAX_AMOUNT:  # nearly always
        return reported
    place = f"{where}, AZ {az}"
    _check_amount(reported.usage, place, "usage")
    _check_optional(reported.physical_usage, place, "physical usage")
    return _cut(structs.replace(reported, subresources=_json_items(reported.subresources, place, "subresources")))


def _cut(item: base.AZUsage) -> base.AZUsage:
    return base.AZUsage(min(item.usage, MAX_AMOUNT), _at_most(item.physical_usage), item.subresources)


def _check_bounds(usage: base.ResourceUsage, where: str) -> None:
    low, high = usage.min_quota, usage.max_quota
    if low is None and high is None:
        return
    _require(usage.quota is not None, where, "has bounds of a quota that it does not have")
    _check_optional(low, where, "smallest quota")
    _check_optional(high, where, "largest quota")
    _require(low is None or high is None or low <= high, where, f"no quota is from {low} to {high}")


def validate_capacity(report: base.CapacityReport, capacitor: str, catalog: Catalog) -> base.CapacityReport:
    """Returns the report without services and resources that are not configured, and with the configured AZs. Raises
    `BackendError` that names the capacitor, the resource and what is wrong."""
    where = f"capacitor {capacitor}"
    _require(isinstance(report, base.CapacityReport), where, f"the report is a {type(report).__name__}")
    services: dict[str, dict[str, Mapping[str, base.AZCapacity]]] = {}
    for service, resources in report.services.items():
        _require(isinstance(resources, Mapping), where, f"service {service}: expected a mapping of resources")
        for name, per_az in resources.items():
            place = f"{where}, resource {service}/{name}"
            checked = _checked_capacity(per_az, place, catalog)
            if catalog.find((service, name)) is None:
                log.info("%s: is not configured, its capacity is dropped", place)
            else:
                services.setdefault(service, {})[name] = checked
    return base.CapacityReport(services)


def _checked_capacity(
    per_az: Mapping[str, base.AZCapacity], where: str, catalog: Catalog
) -> Mapping[str, base.AZCapacity]:
    checked: dict[str, base.AZCapacity] = {}
    for az, reported in _az_items(per_az, base.AZCapacity, where):
        place = f"{where}, AZ {az}"
        _check_amount(reported.capacity, place, "capacity")
        _check_optional(reported.usage, place, "usage")
        item = structs.replace(reported, subcapacities=_json_items(reported.subcapacities, place, "subcapacities"))
        known = catalog.az_of(az)
        checked[known] = base.add_capacity(checked[known], item) if known in checked else item
    return {
        az: base.AZCapacity(min(total.capacity, MAX_AMOUNT), _at_most(total.usage), total.subcapacities)
        for az, total in checked.items()
    }


def _az_items(per_az: Any, item_type: type, where: str) -> Iterable[tuple[str, Any]]:
    _require(isinstance(per_az, Mapping), where, f"per_az is a {type(per_az).__name__}, expected a mapping")
    for az, item in per_az.items():
        if not isinstance(az, str) or az == "":
            raise BackendError(f"{where}: {az!r} is not the name of an AZ")
        if not isinstance(item, item_type):
            raise BackendError(f"{where}, AZ {az}: expected a value of type {item_type.__name__}")
        yield az, item


def _check_optional(value: Any, where: str, figure: str) -> None:
    if value is not None:
        _check_amount(value, where, figure)


def _check_amount(value: Any, where: str, figure: str) -> None:
    if type(value) is not int or value < 0:  # bool is an int to Python, but no amount
        raise BackendError(f"{where}: the {figure} is {value!r}, expected a whole number from 0")


def _at_most(value: int | None) -> int | None:
    return None if value is None else min(value, MAX_AMOUNT)


def _json_items(items: Any, where: str, key: str) -> tuple[Mapping[str, Any], ...]:
    """Returns the items, as they can be written as JSON."""
    if items == ():
        return ()
    valid = isinstance(items, tuple | list) and all(isinstance(item, Mapping) for item in items)
    _require(valid, where, f"the {key} are no sequence of mappings")
    try:
        try:
            orjson.dumps(list(items))
        except (TypeError, ValueError):
            items = _without_huge_numbers(items)
            orjson.dumps(items)
    except (TypeError, ValueError, RecursionError) as error:
        raise BackendError(f"{where}: the {key} cannot be written as JSON: {error}") from None
    return tuple(items)


def _without_huge_numbers(value: Any) -> Any:
    """Cuts numbers beyond any amount, such as a capacity with a huge overcommitment, rather than lose the others."""
    if isinstance(value, Mapping):
        return {key: _without_huge_numbers(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_without_huge_numbers(item) for item in value]
    return max(-MAX_AMOUNT, min(value, MAX_AMOUNT)) if type(value) is int else value


def _require(condition: bool, where: str, problem: str) -> None:
    if not condition:
        raise BackendError(f"{where}: {problem}")
