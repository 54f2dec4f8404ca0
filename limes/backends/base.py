"""What a backend plugin must be: three abstract classes, whose docstrings are the contract, and what they report.

What holds for all three:

- **Threads.** One object is made for each entry of the configuration and is used by many threads at once, for as long
  as the process lives. It keeps no state that a second collector would need: any number of them may run.
- **When.** `__init__` and `describe()` don't ask the backend: API processes make these objects as well, and start while
  the backend is down. Everything else is called by the collector, with no database transaction open.
- **Time.** Every call must end, well or badly, within `BackendContext.time_limit` seconds: afterwards the task is
  given to another collector. Adapters from the context give up on a single request after `BackendContext.timeout`.
- **Errors.** "Cannot say" is `limes.backends.BackendError`, with a message that names what was asked and what came
  back, without tokens or passwords: it is stored and shown to cloud administrators. Exceptions of keystoneauth1 and
  requests may pass through: they become a `BackendError`. Any other exception counts as a bug of the plugin: it is
  logged with its traceback, and treated like a `BackendError`. After an error the old figures stay in force and the
  call is repeated a few minutes later, for ever; so don't retry for long inside.
- **Unknown is not zero.** A report is complete or it is an error. A plugin that got the answer for nine of ten
  resources raises; it never fills a gap with 0. A project that the backend has never heard of is different: it uses 0.
- **Units.** Amounts are whole numbers in the resource's unit, from 0 to `limes.kernel.units.MAX_AMOUNT`. A larger quota
  counts as `UNLIMITED`, which is a value of its own and not a number, and any other larger amount as the largest one.
  Conversions are exact (`limes.kernel.units.convert`) or an error.
- **AZs.** An AZ is the name of a configured availability zone, or one of two conventional names: `any` for what is not
  bound to an AZ, `unknown` for what is in one that is not configured. A backend may report any name: AZs that are
  not configured are summed into `unknown` when the report arrives (`limes.backends.validation`).
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from limes.catalog.catalog import Ref, ServiceDef
from limes.kernel.units import MAX_AMOUNT


class Unlimited(enum.Enum):
    """A backend's quota that is no number: the type of the one value `UNLIMITED`. Compare with `is`."""

    UNLIMITED = "unlimited"

    def __repr__(self) -> str:
        return "unlimited"


UNLIMITED = Unlimited.UNLIMITED

BackendQuota = int | Unlimited
"""What a backend enforces: an amount in the resource's unit, or `UNLIMITED`."""

_STORED_UNLIMITED = -1


def limited(number: int) -> BackendQuota:
    """Returns what a backend means by a number from 0: those such as 2^63-1 mean "unlimited"."""
    return UNLIMITED if number > MAX_AMOUNT else number


def to_stored(quota: BackendQuota) -> int:
    """Returns the number that stands for the quota in the database."""
    return _STORED_UNLIMITED if isinstance(quota, Unlimited) else quota


def is_forbidden(max_backend_quota: int | None) -> bool:
    """Returns whether the largest quota that the backend accepts (None: unknown) forbids the project the resource."""
    return max_backend_quota == 0


class DomainInfo(Struct, frozen=True):
    """A Keystone domain."""

    id: str
    name: str


class ProjectInfo(Struct, frozen=True):
    """A Keystone project."""

    id: str
    name: str
    parent_id: str
    """The id of the parent project, or of the domain where there is no parent project."""
    domain: DomainInfo
    scrape_state: str = ""
    """The `state` of the service's last report on this project that was stored; empty where there is none."""


class AZUsage(Struct, frozen=True):
    """What a project uses of a resource in one AZ."""

    usage: int
    physical_usage: int | None = None
    """What that takes in the backend, for resources where it differs (thin volumes). None: not known."""
    subresources: tuple[Mapping[str, Any], ...] = ()
    """What the usage consists of, in JSON values, for instance one entry for each server."""


class ResourceUsage(Struct, frozen=True):
    """What a project uses of a resource, and what the backend allows."""

    per_az: Mapping[str, AZUsage]
    quota: BackendQuota | None = None
    """The quota that the backend enforces now: a number or `UNLIMITED`. None if and only if the resource does not track
    quota. A backend in which no quota was ever set reports what it enforces then: its default, or `UNLIMITED`."""
    min_quota: int | None = None
    max_quota: int | None = None
    """Which quotas the backend accepts of this project, where it says so: 0 as the largest one for what it must
    not have at all. Requests for others are refused."""


class UsageReport(Struct, frozen=True):
    """What a project uses of a service: one entry for each resource that the service has, also for those not used."""

    resources: Mapping[str, ResourceUsage]
    state: str = ""
    """What the plugin wants to find in `ProjectInfo.scrape_state` the next time, in whichever process that is."""


class AZCapacity(Struct, frozen=True):
    """The capacity of a resource in one AZ, before any overcommit factor of Limes."""

    capacity: int
    usage: int | None = None
    """What is used of it, by all users together. None: not known."""
    subcapacities: tuple[Mapping[str, Any], ...] = ()
    """What the capacity consists of, in JSON values, for instance one entry for each hypervisor."""


class CapacityReport(Struct, frozen=True):
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


class AZDemand(Struct, frozen=True):
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


class ResourceDemand(Struct, frozen=True):
    """The demand for one resource. Every configured AZ has an entry; `any` and `unknown` may have one."""

    overcommit_factor: float = 0
    """By which Limes multiplies the capacity that is reported; 0: it does not."""
    per_az: Mapping[str, AZDemand] = field(default_factory=dict)


Demand = Mapping[Ref, ResourceDemand]
NO_DEMAND: Demand = {}


class QuotaBackend(ABC):
    """A service whose usage can be read and whose quota can be set, project by project.

    The backend is the truth about usage and Limes is the truth about quota: what `report_usage` says of quota is only
    compared with what Limes wants, and put right by `set_quota` where it differs.
    """

    @abstractmethod
    def describe(self) -> ServiceDef:
        """Returns the service: its type (`BackendContext.name`), its area, and its resources with name, unit, category,
        whether they track quota, and so on.

        Must answer at once, from the configuration alone, and always the same: a change of the description takes a
        restart. A resource's unit never changes over restarts either, because stored amounts are in that unit; to
        change it, change the resource's name.
        """

    @abstractmethod
    def report_usage(self, project: ProjectInfo) -> UsageReport:
        """Returns what the project uses now, and which quota the backend enforces for it now.

        Has an entry for every resource of `describe()`. Need not be atomic over resources: usage moves anyway, and each
        report replaces the one before. May be repeated at any time, and changes nothing in the backend.

        Raises `BackendError` if any of the figures cannot be had.
        """

    @abstractmethod
    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        """Makes the backend enforce these quotas for the project; on return it does.

        `quotas` has every resource of `describe()` that tracks quota, even if it has not changed, so there is
        nothing to merge. It must be idempotent: it is repeated with the same or with newer values after an error, a
        timeout or a crash. It should be atomic, but need not: after an error the quotas count as unknown, and are all
        written again. It may be below the project's usage, unless the resource's `quota_at_least_usage` says that the
        backend refuses this; then the project's usage of the last scrape is a floor under it.

        Raises `BackendError` if it is not certain that all quotas are in force.
        """

    def set_quota_by_az(
        self, project: ProjectInfo, quotas: Mapping[str, int], azs: Mapping[str, Mapping[str, int]]
    ) -> None:
        """The same, for backends with resources that are `az_separated`: `azs` has, by resource and AZ, what the
        project is to have there at least, where Limes knows. What is left of a quota may be in any AZ."""
        self.set_quota(project, quotas)


class CapacityBackend(ABC):
    """A source of capacity figures (a "capacitor"), for resources of any services."""

    @abstractmethod
    def report_capacity(self) -> CapacityReport:
        """Returns the raw capacity by service type, resource and AZ: overcommit factors are applied by
        Limes.

        Leave out what this source does not know: of the resources that it reports it must report all AZs, since each
        report replaces the one before. Services and resources that are not configured are dropped, with a log line. If
        two capacitors report the same resource, the last report counts.

        May be repeated at any time, and changes nothing in the backend. Raises `BackendError` if any of the figures
        cannot be had.
        """

    def needs_demand(self) -> Collection[Ref]:
        """Returns the resources whose demand `report_capacity_for` has to know; none if not
        overridden.

        May ask the backend, and raise `BackendError`.
        """
        return ()

    def report_capacity_for(self, demand: Demand) -> CapacityReport:
        """As `report_capacity`, knowing the demand for the resources of `needs_demand`, as far as they are configured.

        To be overridden by plugins that need it. This is what is called if there are any.
        """
        return self.report_capacity()

    def resources(self) -> Collection[Ref]:
        """Returns the resources that it reports, as far as the configuration tells. `limes liquid` announces these."""
        return ()


class DiscoveryBackend(ABC):
    """Where domains and projects come from.

    What is missing from a complete answer has vanished, and is deleted with all its data. So an answer that may be
    incomplete must be an error, and never a shorter list.
    """

    @abstractmethod
    def list_domains(self) -> Iterable[DomainInfo]:
        """Returns all domains, whether enabled or not. `except_domains` and `only_domains` are applied by Limes.

        Raises `BackendError` if not all of them can be listed.
        """

    @abstractmethod
    def list_projects(self, domain: DomainInfo) -> Iterable[ProjectInfo]:
        """Returns all projects of the domain, on every level, whether enabled or not.

        Raises `BackendError` if not all of them can be listed.
        """
