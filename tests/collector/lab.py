"""A small cloud for the collector's use cases: backends that do as they are told, and a database.

germany: berlin, dresden   france: paris      services: compute (cores, ram, gpus without quota), volume (capacity)
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from limes.app.context import Limes, Telemetry
from limes.autogrow.distribute import DistributionOutcome, distribute_next
from limes.backends import (
    AZCapacity,
    AZUsage,
    BackendError,
    CapacityBackend,
    CapacityReport,
    DiscoveryBackend,
    DomainInfo,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    ResourceUsage,
    ServiceDef,
    Unit,
    UsageReport,
)
from limes.backends.loader import Backends
from limes.catalog.catalog import Catalog
from limes.collector.discover import discover, request_sync
from limes.collector.follow_configuration import follow_models
from limes.collector.scrape_capacity import CapacityOutcome, scrape_next_capacitor
from limes.collector.scrape_usage import ScrapeTask, ask, claim_scrapes, give_back, record, record_failure
from limes.collector.sync_catalog import sync_catalog
from limes.commitments.settle import settle_commitments
from limes.db.engine import Engine
from limes.growth.sample import sample_projects
from limes.kernel.errors import BackendPaused
from limes.kernel.system import Jitter
from limes.metering.usage import meter_usage
from limes.projects.scrapes import Listener
from limes.quota.constraints import NO_OVERRIDES, ConstraintSet, QuotaOverrides
from limes.quota.push_quota import push_next
from tests.support.clock import FrozenClock
from tests.support.limes import make_limes, make_settings, with_values

COMPUTE = ServiceDef(
    "compute",
    "compute",
    {
        "cores": ResourceDef("cores", auto_approve_initial_quota=8),
        "ram": ResourceDef("ram", Unit.MIB),
        "gpus": ResourceDef("gpus", contained_in="cores", tracks_quota=False),
    },
)
VOLUME = ServiceDef("volume", "storage", {"capacity": ResourceDef("capacity", Unit.GIB)})

GERMANY, FRANCE = DomainInfo("d-germany", "germany"), DomainInfo("d-france", "france")
BERLIN = ProjectInfo("p-berlin", "berlin", GERMANY.id, GERMANY)
DRESDEN = ProjectInfo("p-dresden", "dresden", BERLIN.id, GERMANY)
PARIS = ProjectInfo("p-paris", "paris", FRANCE.id, FRANCE)


class NoJitter:
    """Spreads nothing, so that tests can name the times."""

    def spread(self, seconds: float) -> float:
        return seconds


class FakeService(QuotaBackend):
    """Answers what `usage` and `quota` say, notes what it was told, and fails or waits when asked to."""

    def __init__(self, service: ServiceDef) -> None:
        self.service = service
        self.usage: dict[str, dict[str, dict[str, AZUsage]]] = {}
        self.quota: dict[str, dict[str, Any]] = {}
        self.default_quota: dict[str, Any] = {}
        self.bounds: dict[str, tuple[int | None, int | None]] = {}
        self.error: Exception | None = None
        self.reports: list[str] = []
        self.written: list[tuple[str, dict[str, int]]] = []
        self.during: Callable[[], None] = lambda: None
        """Called in the middle of each call."""
        self._lock = threading.Lock()

    def describe(self) -> ServiceDef:
        return self.service

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        with self._lock:
            self.reports.append(project.name)
        self.during()
        if self.error:
            raise self.error
        usage = self.usage.get(project.name, {})
        quota = {**self.default_quota, **self.quota.get(project.name, {})}
        return UsageReport(
            {
                name: ResourceUsage(
                    usage.get(name, {}),
                    quota.get(name, 0) if resource.tracks_quota else None,
                    *self.bounds.get(name, (None, None)),
                )
                for name, resource in self.service.resources.items()
            }
        )

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        self.during()
        if self.error:
            raise self.error
        with self._lock:
            self.written.append((project.name, dict(quotas)))
            self.quota[project.name] = dict(quotas)


class FakeCapacitor(CapacityBackend):
    """Reports what it is told to."""

    def __init__(self) -> None:
        self.capacity: dict[str, dict[str, dict[str, AZCapacity]]] = {}
        self.error: Exception | None = None
        self.during: Callable[[], None] = lambda: None

    def report_capacity(self) -> CapacityReport:
        self.during()
        if self.error:
            raise self.error
        return CapacityReport(self.capacity)


class FakeKeystone(DiscoveryBackend):
    """Lists what it is told to."""

    def __init__(self, *projects: ProjectInfo) -> None:
        self.found: dict[DomainInfo, list[ProjectInfo]] = {}
        for project in projects:
            self.found.setdefault(project.domain, []).append(project)
        self.broken_domains: set[str] = set()
        self.during: Callable[[], None] = lambda: None

    def vanish(self, name: str) -> None:
        """There is no such project any more."""
        self.found = {domain: [one for one in found if one.name != name] for domain, found in self.found.items()}

    def list_domains(self) -> list[DomainInfo]:
        found = list(self.found)
        self.during()
        return found

    def list_projects(self, domain: DomainInfo) -> list[ProjectInfo]:
        if domain.name in self.broken_domains:
            raise BackendError("no answer")
        found = list(self.found.get(domain, []))
        self.during()
        return found


def scrape_project(limes: Limes, claimed: ScrapeTask, listeners: Sequence[Listener] = ()) -> bool | None:
    """Asks the backend and stores what it says. Answers whether that has succeeded; None if the backend is paused."""
    try:
        report = ask(limes, claimed)
    except BackendPaused:
        give_back(limes, [claimed])
        return None
    except BackendError as error:
        record_failure(limes, claimed, error)
        return False
    record(limes, [report], listeners)
    return True


@dataclass
class Lab:
    """Everything, with the use cases on it."""

    engine: Engine
    constraints: ConstraintSet = field(default_factory=ConstraintSet)
    catalog_options: dict[str, Any] = field(default_factory=dict)
    authoritative: bool = True
    clock: FrozenClock = field(default_factory=FrozenClock)
    compute: FakeService = field(default_factory=lambda: FakeService(COMPUTE))
    volume: FakeService = field(default_factory=lambda: FakeService(VOLUME))
    capacitors: dict[str, FakeCapacitor] = field(default_factory=lambda: {"nova": FakeCapacitor()})
    sinks: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)
    """Settings, by section and key."""
    listeners: Sequence[Listener] = (meter_usage, sample_projects)
    jitter: Jitter = field(default_factory=NoJitter)
    telemetry: Telemetry = field(default_factory=Telemetry)
    keystone: FakeKeystone = field(default_factory=lambda: FakeKeystone(BERLIN, DRESDEN, PARIS))

    def __post_init__(self) -> None:
        self.catalog = Catalog(["az-one", "az-two"], [COMPUTE, VOLUME], **self.catalog_options)
        self.backends = {"compute": self.compute, "volume": self.volume}
        sync_catalog(self.limes)
        follow_models(self.limes)

    @property
    def limes(self) -> Limes:
        """What use cases work with."""
        settings = make_settings(collector={"authoritative": self.authoritative})
        return make_limes(
            self.engine,
            self.catalog,
            with_values(settings, {"audit.sinks": self.sinks, **self.values}),
            backends=Backends(self.backends, self.capacitors, self.keystone),
            constraints=self.constraints,
            clock=self.clock,
            jitter=self.jitter,
            telemetry=self.telemetry,
        )

    @property
    def now(self) -> float:
        """The present, in seconds since the epoch."""
        return self.clock.now().timestamp()

    def discover(self) -> None:
        discover(self.limes)

    def scrape_next(self, service_type: str) -> bool | None:
        """Scrapes the project that is due first; None if none is due."""
        for task in claim_scrapes(self.limes, service_type, 1):
            return scrape_project(self.limes, task, self.listeners)
        return None

    def scrape_together(self, service_type: str = "compute", limit: int = 50) -> int | None:
        """Scrapes up to so many projects that are due, and stores their reports together. Answers how many there were;
        None if none is due."""
        reports = [ask(self.limes, task) for task in claim_scrapes(self.limes, service_type, limit)]
        if not reports:
            return None
        record(self.limes, reports, self.listeners)
        return len(reports)

    def scrape_capacity(self) -> CapacityOutcome | None:
        return scrape_next_capacitor(self.limes)

    def settle_commitments(self) -> None:
        settle_commitments(self.limes)

    def distribute(self, overrides: QuotaOverrides = NO_OVERRIDES) -> DistributionOutcome | None:
        return distribute_next(structs.replace(self.limes, overrides=lambda: overrides))

    def distribute_all(self, overrides: QuotaOverrides = NO_OVERRIDES) -> int:
        """Computes quota until none is due; answers how many quotas have changed."""
        outcomes = list(iter(lambda: self.distribute(overrides), None))
        assert all(outcome.success for outcome in outcomes)
        return sum(outcome.changed for outcome in outcomes)

    def push_next(self, service_type: str) -> bool | None:
        return push_next(self.limes, service_type)

    def push_all(self) -> None:
        """Writes quota of compute until nothing is due."""
        while self.push_next("compute") is not None:
            pass

    def rescrape(self) -> bool | None:
        """Scrapes compute of berlin because somebody has asked for it."""
        request_sync(self.limes, "d-germany", "p-berlin")
        return self.scrape_next("compute")

    def scrape_all(self, service_type: str = "compute") -> int:
        """Scrapes until nothing is due; answers how many scrapes that took."""
        return sum(1 for _ in iter(lambda: self.scrape_next(service_type), None))

    def make_due(self, *projects: str) -> None:
        """They are to be scraped now, and all others in a minute."""
        self.execute("UPDATE project_services SET next_scrape_at = %s", self.now + 60)
        for project in projects:
            due = "UPDATE project_services SET next_scrape_at = %s WHERE project_id = %s"
            self.execute(due, self.now, self.project_id(project))

    def rows(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        with self.engine.connection():
            return self.engine.rows(sql, params)

    def execute(self, sql: str, *params: Any) -> None:
        with self.engine.connection():
            self.engine.execute(sql, params)

    def quotas(self, project: str = "berlin") -> dict[str, tuple[int | None, int | None]]:
        """Quota and backend quota of a project, by resource."""
        rows = self.rows(
            "SELECT r.name, pr.quota, pr.backend_quota FROM project_resources pr"
            " JOIN resources r ON r.id = pr.resource_id JOIN projects p ON p.id = pr.project_id WHERE p.name = %s",
            project,
        )
        return {name: (quota, backend) for name, quota, backend in rows}

    def service(self, *columns: str, project: str = "berlin", service: str = "compute") -> tuple[Any, ...]:
        """Columns of the row of a project's service."""
        return self.rows(
            f"SELECT {', '.join('ps.' + column for column in columns)} FROM project_services ps"
            " JOIN services s ON s.id = ps.service_id JOIN projects p ON p.id = ps.project_id"
            " WHERE p.name = %s AND s.type = %s",
            project,
            service,
        )[0]

    def project_id(self, name: str = "berlin") -> int:
        return int(self.rows("SELECT id FROM projects WHERE name = %s", name)[0][0])

    def set_quota(self, resource: str, quota: int, project: str = "berlin") -> None:
        """What a PUT does: the new quota and the mark, in one transaction."""

        def work() -> None:
            self.engine.execute(
                "UPDATE project_resources SET quota = %s WHERE project_id = (SELECT id FROM projects WHERE name = %s)"
                " AND resource_id = (SELECT id FROM resources WHERE name = %s)",
                [quota, project, resource],
            )
            self.engine.execute(
                "UPDATE project_services SET quota_desynced_at = %s, next_push_at = %s, push_failures = 0"
                " WHERE project_id = (SELECT id FROM projects WHERE name = %s)"
                " AND service_id = (SELECT service_id FROM resources WHERE name = %s)",
                [self.now, self.now, project, resource],
            )

        self.engine.atomic(work)


def once(action: Callable[[], None]) -> Callable[[], None]:
    """Does the action the first time that it is called, and nothing afterwards."""
    actions = iter([action])

    def call() -> None:
        for first in actions:
            first()
            break

    return call
