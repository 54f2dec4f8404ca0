"""What the account of usage and commitments is computed from, by project (UUID) and time (docs/adr/0032)."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from limes.catalog.models import Resource, Service
from limes.db.compiled import Select, any_of
from limes.db.engine import Engine
from limes.db.query import Insert, Node, collected, column, grouped, rows, tuples
from limes.kernel.calendar import DAY
from limes.metering import models as metering_models
from limes.metering import rules
from limes.metering.models import MeteredProject, UsageDay, UsageGap, UsageMonth, UsageStep
from limes.projects.models import Project, ProjectAZResource, ProjectService
from limes.projects.queries import FAILING_SINCE


class Meter(NamedTuple):
    """What an account is about. The first is a UUID."""

    project: str
    service: str
    resource: str
    az: str


class MeterFilter(NamedTuple):
    """Which services, resources and AZs are wanted; None: all."""

    services: Collection[str] | None = None
    resources: Collection[str] | None = None
    azs: Collection[str] | None = None


NO_FILTER = MeterFilter()


class StoredAccount(NamedTuple):
    """The account of a day, or of the closed days of a month."""

    begin: int
    account: rules.Account
    version: int
    counted_until: int
    """The end of the last day that it counts."""


ScrapeTimes = tuple[str, str, float | None, float | None]
"""A project, a service, when that was last asked about the project, and since when that fails, if it does."""
CLOCKS_DIFFER = 300
"""By how many seconds clocks of hosts may differ at most."""


def meter_columns(model: Any) -> list[Any]:
    return [model.project_uuid, model.service_type, model.resource_name, model.az]


def _are(columns: Iterable[Any], only: MeterFilter) -> list[Any]:
    return [any_of(column, wanted) for column, wanted in zip(columns, only, strict=True) if wanted is not None]


@collected(Meter, rules.Step)
def steps(projects: Sequence[str], begin: int, end: int, only: MeterFilter = NO_FILTER) -> Node:
    """The steps from `begin` on and before `end`, in order."""
    step = UsageStep
    in_time = (step.at >= begin, step.at < end)
    query = step.select(*meter_columns(step), step.at, step.usage).order_by(step.at)
    return query.where(any_of(step.project_uuid, projects), *in_time, *_are(meter_columns(step)[1:], only))


@collected(tuple[str, str], rules.Gap)
def gaps(projects: Sequence[str], begin: int, end: int) -> Node:
    """The times that overlap this one, in which the usage is unknown, by project and service."""
    gap = UsageGap
    query = gap.select(gap.project_uuid, gap.service_type, gap.begins, gap.ends)
    return query.where(any_of(gap.project_uuid, projects), gap.ends > begin, gap.begins < end)


@tuples(tuple[str, str, float | None, float | None])
def scrape_times(of_projects: bool, names: Sequence[str]) -> Node:
    """Of these projects (UUIDs), or of these services."""
    row = ProjectService
    query = row.select(Project.uuid, Service.type, row.scraped_at, FAILING_SINCE).join(Project).join_from(row, Service)
    return query.where(any_of(Project.uuid if of_projects else Service.type, names))


@collected(Meter, rules.CommittedTime)
def committed(projects: Sequence[str], begin: int, end: int, only: MeterFilter = NO_FILTER) -> Node:
    """The times that overlap this one, in which something was committed."""
    time = metering_models.CommittedTime
    query = time.select(*meter_columns(time), time.begins, time.ends, time.amount)
    overlaps = (time.ends > begin, time.begins < end)
    return query.where(any_of(time.project_uuid, projects), *overlaps, *_are(meter_columns(time)[1:], only))


@rows(Meter)
def places(projects: Sequence[str], only: MeterFilter = NO_FILTER) -> Node:
    """What is reported of these projects at present, even if nothing of it is used."""
    az, resource = ProjectAZResource, Resource
    wanted = _are((Service.type, resource.name, az.az), only)
    return (
        az.select(Project.uuid, Service.type, resource.name, az.az)
        .join(Project, on=az.project_id == Project.id)
        .join(resource, on=az.resource_id == resource.id)
        .join(Service, on=resource.service == Service.id)
        .where(any_of(Project.uuid, projects), resource.is_known, *wanted)
    )


Month = tuple[str, str, str, str, int, str, str, str, int, int | None, int | None, int, int]
"""A stored month: project, service, resource, AZ and beginning; the account, with totals as decimal digits; and its
version. A plain tuple: there are hundreds of thousands of them, which the garbage collector need not look at."""


def _accounts(model: Any, projects: Sequence[str], begin: int, end: int, only: MeterFilter, *more: Any) -> Select:
    figures = (model.used, model.committed, model.beyond, model.unknown, model.smallest, model.largest, model.last)
    query: Select = model.select(*meter_columns(model), model.begins, *figures, model.version, *more)
    in_time = (model.begins >= begin, model.begins < end)
    return query.where(any_of(model.project_uuid, projects), *in_time, *_are(meter_columns(model)[1:], only))


@tuples(tuple[str, str, str, str, int, str, str, str, int, int | None, int | None, int, int, int])
def _stored(of_months: bool, projects: Sequence[str], begin: int, end: int, only: MeterFilter) -> Node:
    model: Any = UsageMonth if of_months else UsageDay
    counted_until = model.counted_until if of_months else model.begins + DAY
    return _accounts(model, projects, begin, end, only, counted_until).order_by(model.begins)


def _by_meter(found: Iterable[Any]) -> dict[Meter, list[StoredAccount]]:
    by_meter: dict[Meter, list[StoredAccount]] = {}
    for *meter, day, used, committed_, beyond, unknown, smallest, largest, last, version, counted_until in found:
        account = rules.Account(int(used), int(committed_), int(beyond), unknown, smallest, largest, last)
        stored = StoredAccount(day, account, version, counted_until)
        by_meter.setdefault(Meter._make(meter), []).append(stored)
    return by_meter


def days(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: MeterFilter = NO_FILTER
) -> dict[Meter, list[StoredAccount]]:
    """The stored days that begin in this time, in order."""
    return _by_meter(_stored(engine, False, projects, begin, end, only))


def months(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: MeterFilter = NO_FILTER
) -> dict[Meter, list[StoredAccount]]:
    """The stored months that begin in this time, in order."""
    return _by_meter(_stored(engine, True, projects, begin, end, only))


@tuples(tuple[str, str, str, str, int, str, str, str, int, int | None, int | None, int, int])
def month_rows(projects: Sequence[str], begin: int, end: int, only: MeterFilter) -> Node:
    """The same, in no order."""
    return _accounts(UsageMonth, projects, begin, end, only)


class Names(NamedTuple):
    """What a project was called from a time on."""

    since: int
    project_name: str
    domain_uuid: str
    domain_name: str


@collected(str, Names)
def names(projects: Sequence[str]) -> Node:
    """What these projects were called, in the order of time."""
    row = MeteredProject
    query = row.select(row.project_uuid, row.since, row.project_name, row.domain_uuid, row.domain_name)
    return query.where(any_of(row.project_uuid, projects)).order_by(row.project_uuid, row.since)


UUIDs = Sequence[str] | None


@column(str)
def project_page(begin: int, end: int, marker: str, limit: int, domains: UUIDs = None, projects: UUIDs = None) -> Node:
    """The UUIDs of at most `limit` projects after `marker` that were there in this time: of these domains, and among
    these projects, if they are given. Projects that came soon after, or went shortly before, are among them: the clock
    of the host that noticed it may not be that of the host that scraped them."""
    row = MeteredProject
    was_there = (row.since - CLOCKS_DIFFER < end, row.until.is_null() | (row.until + CLOCKS_DIFFER > begin))
    conditions: list[Any] = [row.project_uuid > marker, *was_there]
    if domains is not None:
        conditions.append(any_of(row.domain_uuid, domains))
    if projects is not None:
        conditions.append(any_of(row.project_uuid, projects))
    return row.select(row.project_uuid).where(*conditions).distinct().order_by(row.project_uuid).limit(limit)


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
    row = metering_models.CommittedTime
    query = row.select(*[getattr(row, name) for name in CommittedRow._fields])
    return query.where(any_of(row.commitment_uuid, uuids)).order_by(row.begins)


write_committed_times = Insert(CommittedRow, metering_models.CommittedTime, key=2)
"""Adds or changes these times."""
