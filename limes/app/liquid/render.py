"""What plugins report, in the terms of the LIQUID protocol."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from limes.backends import ANY_AZ, UNKNOWN_AZ, ResourceDef, ServiceDef, Unlimited
from limes.backends.base import AZCapacity, AZUsage, CapacityReport, UsageReport, add_capacity, add_usage

_UNLIMITED = -1


def info(service: ServiceDef, with_capacity: Container[str], with_demand: Container[str]) -> dict[str, Any]:
    """Returns the info document, without a version. `with_capacity` are the resources whose capacity is known,
    `with_demand` those whose demand has to be known for it."""
    categories = sorted({resource.category for resource in service.resources.values() if resource.category})
    return {
        "displayName": service.type,
        "categories": {name: {"displayName": name} for name in categories},
        "resources": {
            name: _resource(definition, name in with_capacity, name in with_demand)
            for name, definition in service.resources.items()
        },
        "rates": {},
        "capacityMetricFamilies": {},
        "usageMetricFamilies": {},
        "usageReportNeedsProjectMetadata": True,
        "quotaUpdateNeedsProjectMetadata": True,
    }


def _resource(resource: ResourceDef, has_capacity: bool, needs_demand: bool) -> dict[str, Any]:
    return {
        "displayName": resource.name,
        **({"unit": resource.unit.value} if resource.unit.value else {}),
        **({"categoryName": resource.category} if resource.category else {}),
        "topology": "az-aware" if resource.az_aware else "flat",
        "hasCapacity": has_capacity,
        "needsResourceDemand": needs_demand,
        "hasQuota": resource.tracks_quota,
    }


def usage(service: ServiceDef, report: UsageReport, azs: Sequence[str], version: int) -> dict[str, Any]:
    resources = {}
    for name, definition in service.resources.items():
        reported = report.resources[name]
        quota = _UNLIMITED if isinstance(reported.quota, Unlimited) else reported.quota
        per_az = _by_topology(definition, reported.per_az, azs, AZUsage(0), add_usage)
        resources[name] = {
            "forbidden": reported.max_quota == 0,
            **({} if quota is None else {"quota": quota}),
            "perAZ": {
                az: {
                    "usage": shown.usage,
                    **({} if shown.physical_usage is None else {"physicalUsage": shown.physical_usage}),
                    **_list("subresources", shown.subresources, ("id", "name")),
                }
                for az, shown in per_az.items()
            },
        }
    return {"infoVersion": version, "resources": resources, "rates": {}, "metrics": {}}


def capacity(service: ServiceDef, report: CapacityReport, azs: Sequence[str], version: int) -> dict[str, Any]:
    resources = {}
    for name, per_az in report.services.get(service.type, {}).items():
        shown = _by_topology(service.resources[name], per_az, azs, AZCapacity(0), add_capacity)
        resources[name] = {
            "perAZ": {
                az: {
                    "capacity": reported.capacity,
                    **({} if reported.usage is None else {"usage": reported.usage}),
                    **_list("subcapacities", reported.subcapacities, ("id", "name", "capacity", "usage")),
                }
                for az, reported in shown.items()
            }
        }
    return {"infoVersion": version, "resources": resources, "metrics": {}}


def _by_topology(definition: ResourceDef, per_az: Mapping[str, Any], azs: Sequence[str], nothing: Any, add: Any) -> Any:
    """One entry `any` for flat resources; else one for each AZ, and `unknown` for what is in none of them."""
    if not definition.az_aware:
        total = None
        for reported in per_az.values():
            total = reported if total is None else add(total, reported)
        return {ANY_AZ: nothing if total is None else total}
    shown = {az: per_az.get(az, nothing) for az in azs}
    elsewhere = [reported for az, reported in per_az.items() if az not in shown and reported != nothing]
    for reported in elsewhere:
        shown[UNKNOWN_AZ] = add(shown[UNKNOWN_AZ], reported) if UNKNOWN_AZ in shown else reported
    return shown


def _list(key: str, entries: Sequence[Mapping[str, Any]], kept: Sequence[str]) -> dict[str, Any]:
    """Returns the entries under `key`, if there are any: what is not `kept` is an attribute."""
    shown = []
    for entry in entries:
        attributes = {name: value for name, value in entry.items() if name not in kept}
        own = {name: entry[name] for name in kept if name in entry}
        shown.append({**own, **({"attributes": attributes} if attributes else {})})
    return {key: shown} if shown else {}
