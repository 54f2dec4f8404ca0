"""Frozen values: what backends report, and what capacitors are told. Amounts are integers in the resource's unit.

An AZ is the name of a configured availability zone, or one of two conventional names: `any` for what is not bound to an
AZ, `unknown` for what is in one that is not configured. A backend may report any name; whoever receives the report
sums the AZs that are not configured into `unknown` (`limes.backends.validation`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from limes.core.catalog import Ref
from limes.core.quota import BackendQuota


@dataclass(frozen=True, slots=True)
class DomainInfo:
    """A Keystone domain."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ProjectInfo:
    """A Keystone project."""

    id: str
    name: str
    parent_id: str
    """The id of the parent project, or of the domain where there is no parent project."""
    domain: DomainInfo
    scrape_state: str = ""
    """The `state` of the service's last report on this project that was stored; empty where there is none."""


@dataclass(frozen=True, slots=True)
class AZUsage:
    """What a project uses of a resource in one AZ."""

    usage: int
    physical_usage: int | None = None
    """What that takes in the backend, for resources where it differs (thin volumes). None: not known."""
    subresources: tuple[Mapping[str, Any], ...] = ()
    """What the usage consists of, in JSON values, for instance one entry for each server."""


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """What a project uses of a resource, and what the backend allows."""

    per_az: Mapping[str, AZUsage]
    quota: BackendQuota | None = None
    """The quota that the backend enforces now: a number or `UNLIMITED`. None if and only if the resource does not track
    quota. A backend in which no quota was ever set reports what it enforces then: its default, or `UNLIMITED`."""
    min_quota: int | None = None
    max_quota: int | None = None
    """Which quotas the backend accepts of this project, where it says so: 0 as the largest one for what it must
    not have at all. Requests for others are refused."""


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What a project uses of a service: one entry for each resource that the service has, also for those not used."""

    resources: Mapping[str, ResourceUsage]
    state: str = ""
    """What the plugin wants to find in `ProjectInfo.scrape_state` the next time, in whichever process that is."""


@dataclass(frozen=True, slots=True)
class AZCapacity:
    """What there is of a resource in one AZ, before any overcommit factor of Limes."""

    capacity: int
    usage: int | None = None
    """What is used of it, by all users together. None: not known."""
    subcapacities: tuple[Mapping[str, Any], ...] = ()
    """What the capacity consists of, in JSON values, for instance one entry for each hypervisor."""


@dataclass(frozen=True, slots=True)
class CapacityReport:
    """Capacity by service type, resource and AZ."""

    services: Mapping[str, Mapping[str, Mapping[str, AZCapacity]]] = field(default_factory=dict)


def add_usage(first: AZUsage, second: AZUsage) -> AZUsage:
    """Returns the sum of both. Where a physical usage is not known, the usage stands for it."""
    physical = None
    if first.physical_usage is not None or second.physical_usage is not None:
        physical = sum(az.usage if az.physical_usage is None else az.physical_usage for az in (first, second))
    return AZUsage(first.usage + second.usage, physical, (*first.subresources, *second.subresources))


def add_capacity(first: AZCapacity, second: AZCapacity) -> AZCapacity:
    """Returns the sum of both."""
    usages = [az.usage for az in (first, second) if az.usage is not None]
    return AZCapacity(
        first.capacity + second.capacity,
        sum(usages) if len(usages) == 2 else None,  # a part that is not known makes the sum unknown
        (*first.subcapacities, *second.subcapacities),
    )


@dataclass(frozen=True, slots=True)
class AZDemand:
    """What all projects together demand of a resource in one AZ, for capacitors whose figures depend on it.

    For instance, how many servers of one flavor fit on hypervisors depends on how many of the others have to fit there.
    """

    usage: int = 0
    unused_commitments: int = 0
    """What is committed to and confirmed, but not used: each project for itself."""
    pending_commitments: int = 0
    """What is to be confirmed as soon as there is capacity."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.usage + self.unused_commitments + self.pending_commitments


@dataclass(frozen=True, slots=True)
class ResourceDemand:
    """The demand for one resource. Every configured AZ has an entry; `any` and `unknown` may have one."""

    overcommit_factor: float = 0
    """By which Limes multiplies the capacity that is reported; 0: it does not."""
    per_az: Mapping[str, AZDemand] = field(default_factory=dict)


Demand = Mapping[Ref, ResourceDemand]
NO_DEMAND: Demand = {}
