"""What the account of usage and commitments is computed from, by project (UUID) and time (docs/adr/0032)."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from limes.core.metering.account import Account, CommittedTime, Gap, Step
from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import CommittedTime as CommittedTimeModel
from limes.db.models import (
    MeteredProject,
    Project,
    ProjectAZResource,
    ProjectService,
    Resource,
    Service,
    UsageDay,
    UsageGap,
    UsageMonth,
    UsageStep,
)
from limes.db.queries.project_scrapes import FAILING_SINCE


class Meter(NamedTuple):
    """What an account is about. The first is a UUID."""

    project: str
    service: str
    resource: str
    az: str


class StoredAccount(NamedTuple):
    """The account of a day, or of the closed days of a month."""

    begin: int
    account: Account
    version: int
    counted_until: int
    """The end of the last day that it counts."""


class ScrapeTimes(NamedTuple):
    """When a service was last asked about a project, and since when that fails, if it does."""

    project: str
    service: str
    scraped_at: float | None
    failing_since: float | None


_METER = ("project_uuid", "service_type", "resource_name", "az")


def _meter(model: Any) -> list[Any]:
    return [getattr(model, name) for name in _METER]


_STEPS = compiled(
    lambda p: (
        UsageStep.select(*_meter(UsageStep), UsageStep.at, UsageStep.usage)
        .where(any_of(UsageStep.project_uuid, p.projects), UsageStep.at >= p.begin, UsageStep.at < p.end)
        .order_by(UsageStep.at)
    )
)
_GAPS = compiled(
    lambda p: UsageGap.select(UsageGap.project_uuid, UsageGap.service_type, UsageGap.begins, UsageGap.ends).where(
        any_of(UsageGap.project_uuid, p.projects), UsageGap.ends > p.begin, UsageGap.begins < p.end
    )
)
_SCRAPE_TIMES = compiled(
    lambda p: (
        ProjectService.select(Project.uuid, Service.type, ProjectService.scraped_at, FAILING_SINCE)
        .join(Project)
        .join_from(ProjectService, Service)
        .where(any_of(Project.uuid, p.projects))
    )
)
_Committed = CommittedTimeModel
_COMMITTED = compiled(
    lambda p: _Committed.select(*_meter(_Committed), _Committed.begins, _Committed.ends, _Committed.amount).where(
        any_of(_Committed.project_uuid, p.projects), _Committed.ends > p.begin, _Committed.begins < p.end
    )
)
_PLACES = compiled(
    lambda p: (
        ProjectAZResource.select(Project.uuid, Service.type, Resource.name, ProjectAZResource.az)
        .join(Project, on=ProjectAZResource.project_id == Project.id)
        .join(Resource, on=ProjectAZResource.resource_id == Resource.id)
        .join(Service, on=Resource.service == Service.id)
        .where(any_of(Project.uuid, p.projects), Resource.is_known)
    )
)


def _accounts(model: Any, *more: Any) -> list[Any]:
    figures = [getattr(model, name) for name in ("used", "committed", "beyond", "unknown", "smallest", "largest")]
    return [*_meter(model), model.begins, *figures, model.last, model.version, *more]


_DAYS = compiled(
    lambda p: (
        UsageDay.select(*_accounts(UsageDay))
        .where(any_of(UsageDay.project_uuid, p.projects), UsageDay.begins >= p.begin, UsageDay.begins < p.end)
        .order_by(UsageDay.begins)
    )
)
_MONTHS = compiled(
    lambda p: (
        UsageMonth.select(*_accounts(UsageMonth, UsageMonth.counted_until))
        .where(any_of(UsageMonth.project_uuid, p.projects), UsageMonth.begins >= p.begin, UsageMonth.begins < p.end)
        .order_by(UsageMonth.begins)
    )
)


def steps(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[Meter, list[Step]]:
    """Returns the steps from `begin` on and before `end`, in order."""
    found: dict[Meter, list[Step]] = {}
    for *meter, at, usage in engine.tuples(_STEPS, projects=projects, begin=begin, end=end):
        found.setdefault(Meter._make(meter), []).append(Step(at, usage))
    return found


def gaps(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[tuple[str, str], list[Gap]]:
    """Returns the times that overlap this one, in which nobody knew the usage, by project and service."""
    found: dict[tuple[str, str], list[Gap]] = {}
    for project, service, begins, ends in engine.tuples(_GAPS, projects=projects, begin=begin, end=end):
        found.setdefault((project, service), []).append(Gap(begins, ends))
    return found


def scrape_times(engine: Engine, projects: Sequence[str]) -> list[ScrapeTimes]:
    """Returns when these projects were scraped."""
    return engine.all(_SCRAPE_TIMES, ScrapeTimes, projects=projects)


def committed(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[Meter, list[CommittedTime]]:
    """Returns the times that overlap this one, in which something was committed."""
    found: dict[Meter, list[CommittedTime]] = {}
    for *meter, begins, ends, amount in engine.tuples(_COMMITTED, projects=projects, begin=begin, end=end):
        found.setdefault(Meter._make(meter), []).append(CommittedTime(begins, ends, amount))
    return found


def places(engine: Engine, projects: Sequence[str]) -> list[Meter]:
    """Returns what is reported of these projects at present, even if nothing of it is used."""
    return engine.all(_PLACES, Meter, projects=projects)


def days(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[Meter, list[StoredAccount]]:
    """Returns the stored days that begin in this time, in order."""
    found: dict[Meter, list[StoredAccount]] = {}
    for *meter, begins, used, committed_, beyond, unknown, smallest, largest, last, version in engine.tuples(
        _DAYS, projects=projects, begin=begin, end=end
    ):
        account = Account(int(used), int(committed_), int(beyond), unknown, smallest, largest, last)
        stored = StoredAccount(begins, account, version, begins + 86400)
        found.setdefault(Meter._make(meter), []).append(stored)
    return found


def months(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[Meter, list[StoredAccount]]:
    """Returns the stored months that begin in this time, in order."""
    found: dict[Meter, list[StoredAccount]] = {}
    for *meter, begins, used, committed_, beyond, unknown, smallest, largest, last, version, until in engine.tuples(
        _MONTHS, projects=projects, begin=begin, end=end
    ):
        account = Account(int(used), int(committed_), int(beyond), unknown, smallest, largest, last)
        found.setdefault(Meter._make(meter), []).append(StoredAccount(begins, account, version, until))
    return found


class NameRow(NamedTuple):
    """What a project was called from a time on."""

    project_uuid: str
    since: int
    project_name: str
    domain_uuid: str
    domain_name: str


_NAMES = compiled(
    lambda p: (
        MeteredProject.select(*(getattr(MeteredProject, name) for name in NameRow._fields))
        .where(any_of(MeteredProject.project_uuid, p.projects))
        .order_by(MeteredProject.project_uuid, MeteredProject.since)
    )
)


def names(engine: Engine, projects: Sequence[str]) -> dict[str, list[NameRow]]:
    """Returns what these projects were called, in the order of time."""
    found: dict[str, list[NameRow]] = {}
    for row in engine.all(_NAMES, NameRow, projects=projects):
        found.setdefault(row.project_uuid, []).append(row)
    return found


_MP = MeteredProject


@cache
def _project_page(in_domains: bool, in_projects: bool) -> Compiled:
    def build(p: Parameters) -> Select:
        conditions: list[Any] = [
            _MP.project_uuid > p.marker,
            _MP.since < p.end,
            _MP.until.is_null() | (_MP.until > p.begin),
        ]
        if in_domains:
            conditions.append(any_of(_MP.domain_uuid, p.domains))
        if in_projects:
            conditions.append(any_of(_MP.project_uuid, p.projects))
        query = _MP.select(_MP.project_uuid).where(*conditions).distinct()
        return query.order_by(_MP.project_uuid).limit(p.limit)

    return compiled(build)


def project_page(
    engine: Engine,
    begin: int,
    end: int,
    marker: str,
    limit: int,
    domains: Sequence[str] | None = None,
    projects: Sequence[str] | None = None,
) -> list[str]:
    """Returns the UUIDs of at most `limit` projects after `marker` that were there in this time: of these domains, and
    among these projects, if they are given."""
    query = _project_page(domains is not None, projects is not None)
    return engine.column(query, begin=begin, end=end, marker=marker, limit=limit, domains=domains, projects=projects)
