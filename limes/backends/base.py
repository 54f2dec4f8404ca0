"""What a backend plugin must be: three abstract classes, whose docstrings are the contract.

What holds for all three:

- **Threads.** One object is made for each entry of the configuration and is used by many threads at once, for as long
  as the process lives. It keeps no state that a second collector would need: any number of them may run.
- **When.** `__init__` and `describe()` don't ask the backend: API processes make these objects as well, and start while
  the backend is down. Everything else is called by the collector, with no database transaction open.
- **Time.** Every call must end, well or badly, within `BackendContext.time_limit` seconds: afterwards the task is
  given to another collector. Adapters from the context give up on a single request after `BackendContext.timeout`.
- **Errors.** "Cannot say" is `limes.errors.BackendError`, with a message that names what was asked and what came back,
  without tokens or passwords: it is stored and shown to cloud administrators. Exceptions of keystoneauth1 and requests
  may pass through: they become a `BackendError`. Any other exception counts as a bug of the plugin: it is logged with
  its traceback, and treated like a `BackendError`. After an error the old figures stay in force and the call is
  repeated a few minutes later, for ever; so don't retry for long inside.
- **Unknown is not zero.** A report is complete or it is an error. A plugin that got the answer for nine of ten
  resources raises; it never fills a gap with 0. A project that the backend has never heard of is different: it uses 0.
- **Units.** Amounts are whole numbers in the resource's unit, from 0 to `limes.core.units.MAX_AMOUNT`. A larger quota
  counts as `UNLIMITED`, which is a value of its own and not a number, and any other larger amount as the largest one.
  Conversions are exact (`limes.core.units.convert`) or an error.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping

from limes.backends.reports import CapacityReport, Demand, DomainInfo, ProjectInfo, UsageReport
from limes.core.catalog import Ref, ServiceDef


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

        `quotas` has every resource of `describe()` that tracks quota, also those that have not changed, so there is
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
        """Returns what there is, by service type, resource and AZ, as raw capacity: overcommit factors are applied by
        Limes.

        Leave out what this source does not know: of the resources that it reports it must report all AZs, since each
        report replaces the one before. Services and resources that are not configured are dropped, with a log line. If
        two capacitors report the same resource, the last report counts.

        May be repeated at any time, and changes nothing in the backend. Raises `BackendError` if any of the figures
        cannot be had.
        """

    def needs_demand(self) -> Collection[Ref]:
        """Returns the resources of which `report_capacity_for` has to know how much projects demand; none if not
        overridden.

        May ask the backend, and raise `BackendError`.
        """
        return ()

    def report_capacity_for(self, demand: Demand) -> CapacityReport:
        """As `report_capacity`, knowing the demand for the resources of `needs_demand`, as far as they are configured.

        To be overridden by those that need it. This is what is called if there are any.
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
