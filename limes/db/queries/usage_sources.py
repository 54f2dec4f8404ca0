"""What the account of usage and commitments is computed from, by project (UUID) and time (docs/adr/0032)."""

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from limes.core.metering.account import Account, CommittedTime, Gap, Step
from limes.db.compiled import Select, any_of
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
from limes.db.query import Insert, Node, column, grouped, rows, tuples

T = TypeVar("T")


class Meter(NamedTuple):
    """What an account is about. The first is a UUID."""

    project: str
    service: str
    resource: str
    az: str


class Only(NamedTuple):
    """Which services, resources and AZs are wanted; None: all."""

    services: Collection[str] | None = None
    resources: Collection[str] | None = None
    azs: Collection[str] | None = None


EVERYTHING = Only()


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


CLOCKS_DIFFER = 300
"""By how many seconds clocks of hosts may differ at most."""


def meter_columns(model: Any) -> list[Any]:
    """Those of what a row is about."""
    return [model.project_uuid, model.service_type, model.resource_name, model.az]


def _are(columns: Iterable[Any], only: Only) -> list[Any]:
    """The conditions on service, resource and AZ."""
    return [any_of(column, wanted) for column, wanted in zip(columns, only, strict=True) if wanted is not None]


def _by_meter(found: Iterable[Any], make: Callable[..., T]) -> dict[Meter, list[T]]:
    """Rows that begin with what they are about. `make` is given the other columns."""
    by_meter: dict[Meter, list[T]] = {}
    for row in found:
        by_meter.setdefault(Meter._make(row[:4]), []).append(make(*row[4:]))
    return by_meter


@tuples(tuple[str, str, str, str, int, int])
def _steps(projects: Sequence[str], begin: int, end: int, only: Only) -> Node:
    step = UsageStep
    query = step.select(*meter_columns(step), step.at, step.usage)
    in_time = (step.at >= begin, step.at < end)
    query = query.where(any_of(step.project_uuid, projects), *in_time, *_are(meter_columns(step)[1:], only))
    return query.order_by(step.at)


def steps(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING
) -> dict[Meter, list[Step]]:
    """The steps from `begin` on and before `end`, in order."""
    return _by_meter(_steps(engine, projects, begin, end, only), Step)


@tuples(tuple[str, str, int, int])
def _gaps(projects: Sequence[str], begin: int, end: int) -> Node:
    gap = UsageGap
    query = gap.select(gap.project_uuid, gap.service_type, gap.begins, gap.ends)
    return query.where(any_of(gap.project_uuid, projects), gap.ends > begin, gap.begins < end)


def gaps(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[tuple[str, str], list[Gap]]:
    """The times that overlap this one, in which nobody knew the usage, by project and service."""
    found: dict[tuple[str, str], list[Gap]] = {}
    for project, service, begins, ends in _gaps(engine, projects, begin, end):
        found.setdefault((project, service), []).append(Gap(begins, ends))
    return found


_SCRAPE_TIMES = (
    ProjectService.select(Project.uuid, Service.type, ProjectService.scraped_at, FAILING_SINCE)
    .join(Project)
    .join_from(ProjectService, Service)
)


@rows(ScrapeTimes)
def scrape_times(projects: Sequence[str]) -> Node:
    """When these projects were scraped."""
    return _SCRAPE_TIMES.where(any_of(Project.uuid, projects))


@rows(ScrapeTimes)
def scrape_times_of_services(services: Sequence[str]) -> Node:
    """When these services were scraped, in all projects."""
    return _SCRAPE_TIMES.where(any_of(Service.type, services))


@tuples(tuple[str, str, str, str, int, int, int])
def _committed(projects: Sequence[str], begin: int, end: int, only: Only) -> Node:
    time = CommittedTimeModel
    query = time.select(*meter_columns(time), time.begins, time.ends, time.amount)
    overlaps = (time.ends > begin, time.begins < end)
    return query.where(any_of(time.project_uuid, projects), *overlaps, *_are(meter_columns(time)[1:], only))


def committed(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING
) -> dict[Meter, list[CommittedTime]]:
    """The times that overlap this one, in which something was committed."""
    return _by_meter(_committed(engine, projects, begin, end, only), CommittedTime)


@rows(Meter)
def places(projects: Sequence[str], only: Only = EVERYTHING) -> Node:
    """What is reported of these projects at present, even if nothing of it is used."""
    az = ProjectAZResource
    return (
        az.select(Project.uuid, Service.type, Resource.name, az.az)
        .join(Project, on=az.project_id == Project.id)
        .join(Resource, on=az.resource_id == Resource.id)
        .join(Service, on=Resource.service == Service.id)
        .where(any_of(Project.uuid, projects), Resource.is_known, *_are((Service.type, Resource.name, az.az), only))
    )


# -- stored accounts ---------------------------------------------------------------------------------------------------


class MonthRow(NamedTuple):
    """A stored month. Totals are decimal digits."""

    project: str
    service: str
    resource: str
    az: str
    begin: int
    used: str
    committed: str
    beyond: str
    unknown: int
    smallest: int | None
    largest: int | None
    last: int
    version: int

    @property
    def meter(self) -> Meter:
        """What it is about."""
        return Meter._make(self[:4])

    @property
    def account(self) -> Account:
        return Account(int(self.used), int(self.committed), int(self.beyond), *self[8:12])


Month = tuple[str, str, str, str, int, str, str, str, int, int | None, int | None, int, int]
"""The same as a plain tuple: there are hundreds of thousands of them, which the garbage collector need not look at."""


def _accounts(model: Any, projects: Sequence[str], begin: int, end: int, only: Only, *more: Any) -> Select:
    figures = (model.used, model.committed, model.beyond, model.unknown, model.smallest, model.largest, model.last)
    query: Select = model.select(*meter_columns(model), model.begins, *figures, model.version, *more)
    in_time = (model.begins >= begin, model.begins < end)
    return query.where(any_of(model.project_uuid, projects), *in_time, *_are(meter_columns(model)[1:], only))


def _stored(begin: int, used: str, committed_: str, beyond: str, *figures: Any) -> StoredAccount:
    *others, version, counted_until = figures
    return StoredAccount(begin, Account(int(used), int(committed_), int(beyond), *others), version, counted_until)


@tuples(tuple[str, str, str, str, int, str, str, str, int, int | None, int | None, int, int])
def _days(projects: Sequence[str], begin: int, end: int, only: Only) -> Node:
    return _accounts(UsageDay, projects, begin, end, only).order_by(UsageDay.begins)


def days(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING
) -> dict[Meter, list[StoredAccount]]:
    """The stored days that begin in this time, in order."""
    return _by_meter(_days(engine, projects, begin, end, only), lambda day, *row: _stored(day, *row, day + 86400))


@tuples(tuple[str, str, str, str, int, str, str, str, int, int | None, int | None, int, int, int])
def _months(projects: Sequence[str], begin: int, end: int, only: Only) -> Node:
    month = UsageMonth
    return _accounts(month, projects, begin, end, only, month.counted_until).order_by(month.begins)


def months(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING
) -> dict[Meter, list[StoredAccount]]:
    """The stored months that begin in this time, in order."""
    return _by_meter(_months(engine, projects, begin, end, only), _stored)


@tuples(tuple[str, str, str, str, int, str, str, str, int, int | None, int | None, int, int])
def _month_rows(projects: Sequence[str], begin: int, end: int, only: Only) -> Node:
    return _accounts(UsageMonth, projects, begin, end, only)


def month_rows(engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING) -> list[Month]:
    """The same, in the order of meters (by code points, whatever the database's order is) and time."""
    found = _month_rows(engine, projects, begin, end, only)
    found.sort(key=itemgetter(slice(0, 5)))
    return found


# -- projects ----------------------------------------------------------------------------------------------------------


class NameRow(NamedTuple):
    """What a project was called from a time on."""

    project_uuid: str
    since: int
    project_name: str
    domain_uuid: str
    domain_name: str


@grouped(str, "project_uuid", NameRow)
def names(projects: Sequence[str]) -> Node:
    """What these projects were called, in the order of time."""
    row = MeteredProject
    query = row.select(row.project_uuid, row.since, row.project_name, row.domain_uuid, row.domain_name)
    return query.where(any_of(row.project_uuid, projects)).order_by(row.project_uuid, row.since)


@column(str)
def _project_page(
    begin: int, end: int, marker: str, limit: int, domains: Sequence[str] | None, projects: Sequence[str] | None
) -> Node:
    row = MeteredProject
    conditions: list[Any] = [row.project_uuid > marker, row.since < end, row.until.is_null() | (row.until > begin)]
    if domains is not None:
        conditions.append(any_of(row.domain_uuid, domains))
    if projects is not None:
        conditions.append(any_of(row.project_uuid, projects))
    return row.select(row.project_uuid).where(*conditions).distinct().order_by(row.project_uuid).limit(limit)


def project_page(
    engine: Engine,
    begin: int,
    end: int,
    marker: str,
    limit: int,
    domains: Sequence[str] | None = None,
    projects: Sequence[str] | None = None,
) -> list[str]:
    """The UUIDs of at most `limit` projects after `marker` that were there in this time: of these domains, and among
    these projects, if they are given.

    Projects that came soon after, or went shortly before, are among them: the clock of the host that noticed it may
    not be that of the host that scraped them.
    """
    return _project_page(engine, begin - CLOCKS_DIFFER, end + CLOCKS_DIFFER, marker, limit, domains, projects)


# -- when commitments were confirmed, and whose they were, as their events tell ----------------------------------------


class CommittedRow(NamedTuple):
    """A time in which a confirmed commitment was a project's."""

    commitment_uuid: str
    begins: int
    ends: int
    project_uuid: str
    service_type: str
    resource_name: str
    az: str
    amount: int


@grouped(str, "commitment_uuid", CommittedRow)
def committed_times(uuids: Collection[str]) -> Node:
    """The times of these commitments, in order."""
    row = CommittedTimeModel
    query = row.select(*[getattr(row, name) for name in CommittedRow._fields])
    return query.where(any_of(row.commitment_uuid, uuids)).order_by(row.begins)


write_committed_times = Insert(CommittedRow, CommittedTimeModel, key=2)
"""Adds or changes these times."""
