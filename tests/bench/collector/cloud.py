"""The fake cloud: backends that answer at once from arithmetic, and a database that agrees with them already."""

import itertools
from collections.abc import Mapping

from limes.backends import (
    AZUsage,
    DomainInfo,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    ResourceUsage,
    ServiceDef,
    UsageReport,
)
from limes.backends.base import CapacityBackend, CapacityReport, DiscoveryBackend
from limes.catalog.catalog import Catalog
from limes.db.engine import Engine
from limes.metering.close import close_days
from tests.support.limes import make_limes

DOMAINS, PROJECTS = 10, 10_000
SERVICES = ("compute", "dns", "loadbalancer", "network", "volume")
RESOURCES = 10
AZS = ("az-one", "az-two")
QUOTA = 100


def service(service_type: str) -> ServiceDef:
    """A service with ten resources."""
    names = [f"{service_type}-{number}" for number in range(RESOURCES)]
    return ServiceDef(service_type, service_type, {name: ResourceDef(name) for name in names})


class FastService(QuotaBackend):
    """Reports the same figures each time, but for the first resources, whose usage in one AZ moves with each report."""

    def __init__(self, service_type: str, moving: int = 1) -> None:
        self._service = service(service_type)
        self._moving = list(self._service.resources)[:moving]
        self._reports = itertools.count(1)

    def describe(self) -> ServiceDef:
        return self._service

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        still = {az: AZUsage(7) for az in AZS}
        resources = dict.fromkeys(self._service.resources, ResourceUsage(still, QUOTA))
        moved = {**still, AZS[0]: AZUsage(next(self._reports))}
        resources |= dict.fromkeys(self._moving, ResourceUsage(moved, QUOTA))
        return UsageReport(resources)

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        raise AssertionError("nothing is out of sync")


class NoCapacity(CapacityBackend):
    """Reports nothing."""

    def report_capacity(self) -> CapacityReport:
        return CapacityReport({})


class NoDiscovery(DiscoveryBackend):
    """Is not asked: its job is not due in a measurement."""

    def list_domains(self) -> list[DomainInfo]:
        raise AssertionError("discovery is not part of the measurement")

    def list_projects(self, domain: DomainInfo) -> list[ProjectInfo]:
        raise AssertionError("discovery is not part of the measurement")


def load(engine: Engine, projects: int = PROJECTS) -> None:
    """Fills a migrated database in which services and resources have their rows already, inside PostgreSQL."""
    engine.atomic(lambda: _load(engine, projects))
    close_days(make_limes(engine, Catalog(["az-one"], [])))  # the account of usage has begun long ago
    with engine.connection():
        engine.db.execute_sql("VACUUM ANALYZE")


def _load(engine: Engine, projects: int) -> None:
    engine.execute("SET LOCAL statement_timeout = 0")
    engine.execute(
        "INSERT INTO domains (id, uuid, name) SELECT n, 'd' || n, 'domain-' || n FROM generate_series(1, %s) n",
        [DOMAINS],
    )
    engine.execute(
        "INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting)"
        " SELECT n, md5(n::text), 'project-' || n, 'd' || (1 + n %% %s), 1 + n %% %s, false"
        " FROM generate_series(1, %s) n",
        [DOMAINS, DOMAINS, projects],
    )
    engine.execute(
        "INSERT INTO project_services (project_id, service_id, scraped_at, metered_at, checked_at, next_scrape_at,"
        " is_stale, scrape_error, push_failures, push_error)"
        " SELECT p.id, s.id, 1, 1, 1, 4e9, false, '', 0, '' FROM projects p, services s"
    )
    engine.execute(
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
        " SELECT p.id, r.id, %s, %s, 14 FROM projects p, resources r",
        [QUOTA, QUOTA],
    )
    engine.execute(
        "INSERT INTO project_az_resources (project_id, resource_id, az, usage, metered_usage, subresources)"
        " SELECT p.id, r.id, az.az, az.usage, az.usage, '' FROM projects p, resources r,"
        " (VALUES ('any', 0), ('az-one', 7), ('az-two', 7)) az (az, usage)"
    )
    # the cluster-wide jobs do not run in a measurement
    for job in (
        "discovery",
        "commitments",
        "commitment-use",
        "consistency",
        "history",
        "sums",
        "temporary-quotas",
        "expire-requests",
        "metering",
    ):
        engine.execute(
            "INSERT INTO jobs (name, next_run_at, error) VALUES (%s, EXTRACT(EPOCH FROM now()) + 1e8, '')", [job]
        )
    for job in ("growth", "lifetimes"):  # whose interval cannot be set: what is due later than that counts as an error
        engine.execute(
            "INSERT INTO jobs (name, next_run_at, error) VALUES (%s, EXTRACT(EPOCH FROM now()) + 2000, '')", [job]
        )
