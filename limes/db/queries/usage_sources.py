"""What the account of usage and commitments is computed from, by project (UUID) and time (docs/adr/0032)."""

from collections.abc import Collection, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from peewee import Value

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


class Only(NamedTuple):
    """Which services, resources and AZs are wanted; None: all."""

    services: Collection[str] | None = None
    resources: Collection[str] | None = None
    azs: Collection[str] | None = None

    @property
    def given(self) -> tuple[bool, bool, bool]:
        """Returns which of them are restricted."""
        return (self.services is not None, self.resources is not None, self.azs is not None)


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
_METER = ("project_uuid", "service_type", "resource_name", "az")


Given = tuple[bool, bool, bool]


def _meter(model: Any) -> list[Any]:
    return [getattr(model, name) for name in _METER]


def _wanted(p: Parameters, columns: Sequence[Any], given: Given) -> list[Any]:
    """Returns the conditions on service, resource and AZ."""
    lists = (p.services, p.resources, p.azs)
    return [any_of(column, wanted) for column, wanted, is_given in zip(columns, lists, given, strict=True) if is_given]


@cache
def _steps(given: Given) -> Compiled:
    step = UsageStep
    return compiled(
        lambda p: (
            step.select(*_meter(step), step.at, step.usage)
            .where(any_of(step.project_uuid, p.projects), step.at >= p.begin, step.at < p.end)
            .where(*_all(_wanted(p, _meter(step)[1:], given)))
            .order_by(step.at)
        )
    )


def _all(conditions: list[Any]) -> list[Any]:
    """peewee takes no empty `where`."""
    return conditions or [Value(1) == 1]


_GAPS = compiled(
    lambda p: UsageGap.select(UsageGap.project_uuid, UsageGap.service_type, UsageGap.begins, UsageGap.ends).where(
        any_of(UsageGap.project_uuid, p.projects), UsageGap.ends > p.begin, UsageGap.begins < p.end
    )
)


def _scrape_times() -> Any:
    row = ProjectService
    query = row.select(Project.uuid, Service.type, row.scraped_at, FAILING_SINCE)
    return query.join(Project).join_from(row, Service)


_SCRAPE_TIMES = compiled(lambda p: _scrape_times().where(any_of(Project.uuid, p.projects)))
_SCRAPE_TIMES_OF_SERVICES = compiled(lambda p: _scrape_times().where(any_of(Service.type, p.services)))


@cache
def _committed(given: Given) -> Compiled:
    time = CommittedTimeModel
    return compiled(
        lambda p: (
            time.select(*_meter(time), time.begins, time.ends, time.amount)
            .where(any_of(time.project_uuid, p.projects), time.ends > p.begin, time.begins < p.end)
            .where(*_all(_wanted(p, _meter(time)[1:], given)))
        )
    )


@cache
def _places(given: Given) -> Compiled:
    az = ProjectAZResource
    return compiled(
        lambda p: (
            az.select(Project.uuid, Service.type, Resource.name, az.az)
            .join(Project, on=az.project_id == Project.id)
            .join(Resource, on=az.resource_id == Resource.id)
            .join(Service, on=Resource.service == Service.id)
            .where(any_of(Project.uuid, p.projects), Resource.is_known)
            .where(*_all(_wanted(p, (Service.type, Resource.name, az.az), given)))
        )
    )


@cache
def _accounts(model: Any, more: tuple[Any, ...], given: Given, *, in_order: bool = True) -> Compiled:
    figures = [getattr(model, name) for name in ("used", "committed", "beyond", "unknown", "smallest", "largest")]
    return compiled(
        lambda p: (
            model.select(*_meter(model), model.begins, *figures, model.last, model.version, *more)
            .where(any_of(model.project_uuid, p.projects), model.begins >= p.begin, model.begins < p.end)
            .where(*_all(_wanted(p, _meter(model)[1:], given)))
            .order_by(*[model.begins] if in_order else [])
        )
    )


def steps(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING
) -> dict[Meter, list[Step]]:
    """Returns the steps from `begin` on and before `end`, in order."""
    found: dict[Meter, list[Step]] = {}
    for *meter, at, usage in engine.tuples(
        _steps(only.given), projects=projects, begin=begin, end=end, **only._asdict()
    ):
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


def scrape_times_of_services(engine: Engine, services: Sequence[str]) -> list[ScrapeTimes]:
    """Returns when these services were scraped, in all projects."""
    return engine.all(_SCRAPE_TIMES_OF_SERVICES, ScrapeTimes, services=services)


def committed(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING
) -> dict[Meter, list[CommittedTime]]:
    """Returns the times that overlap this one, in which something was committed."""
    found: dict[Meter, list[CommittedTime]] = {}
    for *meter, begins, ends, amount in engine.tuples(
        _committed(only.given), projects=projects, begin=begin, end=end, **only._asdict()
    ):
        found.setdefault(Meter._make(meter), []).append(CommittedTime(begins, ends, amount))
    return found


def places(engine: Engine, projects: Sequence[str], only: Only = EVERYTHING) -> list[Meter]:
    """Returns what is reported of these projects at present, even if nothing of it is used."""
    return engine.all(_places(only.given), Meter, projects=projects, **only._asdict())


def days(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING
) -> dict[Meter, list[StoredAccount]]:
    """Returns the stored days that begin in this time, in order."""
    found: dict[Meter, list[StoredAccount]] = {}
    for *meter, begins, used, committed_, beyond, unknown, smallest, largest, last, version in engine.tuples(
        _accounts(UsageDay, (), only.given), projects=projects, begin=begin, end=end, **only._asdict()
    ):
        account = Account(int(used), int(committed_), int(beyond), unknown, smallest, largest, last)
        stored = StoredAccount(begins, account, version, begins + 86400)
        found.setdefault(Meter._make(meter), []).append(stored)
    return found


def months(
    engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING
) -> dict[Meter, list[StoredAccount]]:
    """Returns the stored months that begin in this time, in order."""
    found: dict[Meter, list[StoredAccount]] = {}
    query = _accounts(UsageMonth, (UsageMonth.counted_until,), only.given)
    for row in engine.tuples(query, projects=projects, begin=begin, end=end, **only._asdict()):
        used, committed_, beyond, *figures = row[5:12]
        account = Account(int(used), int(committed_), int(beyond), *figures)
        found.setdefault(Meter._make(row[:4]), []).append(StoredAccount(row[4], account, *row[12:14]))
    return found


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
    def account(self) -> Account:
        """What it says."""
        return Account(int(self.used), int(self.committed), int(self.beyond), *self[8:12])


Month = tuple[str, str, str, str, int, str, str, str, int, int | None, int | None, int, int]
"""The same as a plain tuple: there are hundreds of thousands of them, which the garbage collector need not look at."""


_METER_AND_BEGIN = itemgetter(slice(0, 5))


def month_rows(engine: Engine, projects: Sequence[str], begin: int, end: int, only: Only = EVERYTHING) -> list[Month]:
    """Returns the same, in the order of meters (by code points, whatever the database's order is) and time."""
    query = _accounts(UsageMonth, (), only.given, in_order=False)
    rows: list[Any] = engine.tuples(query, projects=projects, begin=begin, end=end, **only._asdict())
    rows.sort(key=_METER_AND_BEGIN)
    return rows


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
    among these projects, if they are given.

    Projects that came soon after, or went shortly before, are among them: the clock of the host that noticed it may
    not be that of the host that scraped them.
    """
    query = _project_page(domains is not None, projects is not None)
    among = {"marker": marker, "limit": limit, "domains": domains, "projects": projects}
    return engine.column(query, begin=begin - CLOCKS_DIFFER, end=end + CLOCKS_DIFFER, **among)
