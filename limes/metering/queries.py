"""What is written for the account of usage and commitments, when something changes (docs/adr/0032)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from peewee import Cast, Value, fn

from limes.catalog.catalog import Ref
from limes.catalog.models import Resource, Service
from limes.catalog.queries import resource_ids
from limes.db.compiled import any_of, lock
from limes.db.engine import Engine
from limes.db.query import Insert, Node, collected, column, tuples, writes
from limes.metering import rules, source_queries
from limes.metering.models import MeteredProject, MeteredUnit, UsageGap, UsageStep
from limes.projects.models import Domain, Project, ProjectAZResource, ProjectResource, ProjectService

PENDING = 2**62
"""`recorded_at` of what no closed day has counted so far, and might have to be corrected for."""


class StepRow(NamedTuple):
    """From `at` on, a project used so much."""

    project_uuid: str
    service_type: str
    resource_name: str
    az: str
    at: int
    usage: int
    recorded_at: int
    """Later than `at`, or `PENDING`: the job has to look whether the day is closed."""


_add_steps = Insert(StepRow, UsageStep, key=5)


def add_steps(engine: Engine, steps: Sequence[StepRow]) -> None:
    """Adds steps; of two at the same second, the later one counts."""
    _add_steps(engine, [step if step.recorded_at == step.at else step._replace(recorded_at=PENDING) for step in steps])


def _is_of(row: Any, uuids: Collection[str], service_type: str | None) -> list[Any]:
    is_of_project = any_of(row.project_uuid, uuids)
    return [is_of_project] if service_type is None else [is_of_project, row.service_type == service_type]


@writes
def _forget_steps(uuids: Collection[str], service_type: str | None, now: int) -> Node:
    return UsageStep.delete().where(*_is_of(UsageStep, uuids, service_type), UsageStep.at > now)


@writes
def _forget_gaps(uuids: Collection[str], service_type: str | None, now: int) -> Node:
    return UsageGap.delete().where(*_is_of(UsageGap, uuids, service_type), UsageGap.begins >= now)


@writes
def _end_gaps(uuids: Collection[str], service_type: str | None, now: int) -> Node:
    return UsageGap.update(ends=now).where(*_is_of(UsageGap, uuids, service_type), UsageGap.ends > now)


def forget_future(engine: Engine, project_uuid: str, service_type: str, now: int) -> None:
    """Deletes steps and gaps that a wrong clock has put after `now`."""
    for change in (_forget_steps, _forget_gaps, _end_gaps):
        change(engine, [project_uuid], service_type, now)


class GapRow(NamedTuple):
    project_uuid: str
    service_type: str
    begins: int
    ends: int
    recorded_at: int = PENDING


add_gaps = Insert(GapRow, UsageGap, key=3, at_once=5000)
"""Adds gaps that have just ended."""


_AZ = ProjectAZResource
_METERED = _AZ.metered_usage.is_null(False) & (_AZ.metered_usage > 0)


def _end_steps(engine: Engine, now: int, ended_later: Any, *conditions: Any) -> None:
    """Adds steps to 0. The clock of the host that has scraped last may have been ahead: what it found is over as well.
    `ended_later` selects these steps."""
    # nothing is recorded before its time, and there is an index of when it was
    later = UsageStep.delete().where(UsageStep.recorded_at > now, UsageStep.at > now, ended_later)
    recorded_at = PENDING if engine.write(later) else now
    ended = (
        _AZ.select(
            *(Project.uuid, Service.type, Resource.name, _AZ.az),
            *(Value(now).alias("at"), Value(0).alias("usage"), Value(recorded_at).cast("BIGINT")),
        )
        .join(Project, on=_AZ.project_id == Project.id)
        .join(Resource, on=_AZ.resource_id == Resource.id)
        .join(Service, on=Resource.service == Service.id)
        .where(_METERED, *conditions)
    )
    fields = [getattr(UsageStep, name) for name in StepRow._fields]
    engine.write(UsageStep.insert_from(ended, fields).on_conflict(conflict_target=fields[:5], preserve=fields[5:]))


@column(int)
def _lock(of_figures: bool, uuids: Collection[str]) -> Node:
    row: Any = (ProjectResource if of_figures else ProjectService).alias("own")
    query = row.select(row.project).join(Project, on=row.project == Project.id).where(any_of(Project.uuid, uuids))
    return lock(query.order_by(*(row.resource, row.project) if of_figures else [row.id]), of="own")


def end_projects(
    engine: Engine, uuids: Collection[str], now: int, last_usages: Callable[[], Mapping[source_queries.Meter, int]]
) -> None:
    """Ends the account of projects (by UUID) that are about to be deleted. Waits for scrapes that are just being
    written: the last of them counts. `last_usages` says what the account knows last: there may be no row of that any
    more, after a scrape by the previous release."""
    if uuids:
        # in the order of all transactions; the second also stops first scrapes, which have no figures yet
        _lock(engine, True, uuids)
        _lock(engine, False, uuids)
        _end_steps(engine, now, any_of(UsageStep.project_uuid, uuids), any_of(Project.uuid, uuids))
        add_steps(engine, [StepRow(*meter, now, 0, now) for meter, usage in last_usages().items() if usage])
        _forget_gaps(engine, uuids, None, now)
        _end_gaps(engine, uuids, None, now)


def end_resources(engine: Engine, resource_ids: Collection[int], now: int) -> None:
    """Ends the account of resources that are no longer offered. Metering starts over if they come back."""
    if not resource_ids:
        return
    is_of = (UsageStep.resource_name == Resource.name, UsageStep.service_type == Service.type)
    resource = Resource.select(Value(1)).join(Service).where(any_of(Resource.id, resource_ids), *is_of)
    _end_steps(engine, now, fn.EXISTS(resource), any_of(_AZ.resource_id, resource_ids))
    engine.write(_AZ.update(metered_usage=None).where(any_of(_AZ.resource_id, resource_ids), _METERED))


@tuples(tuple[str, str, str])
def metered_by_others(resource_ids: Collection[int]) -> Node:
    """The projects (UUID), services and names of resources that were scraped last by the previous release: it has
    deleted rows of AZs in which nothing is used any more, without an entry in the account."""
    return (
        Resource.select(Project.uuid, Service.type, Resource.name)
        .join(Service, on=Resource.service == Service.id)
        .join(ProjectService, on=ProjectService.service == Service.id)
        .join(Project, on=ProjectService.project == Project.id)
        .where(any_of(Resource.id, resource_ids), ProjectService.scraped_at.is_null(False))
        .where(ProjectService.metered_at.is_null() | (ProjectService.metered_at != ProjectService.scraped_at))
    )


@tuples(tuple[int, int, str, int])
def _meter(projects: Collection[int]) -> Node:
    query = _AZ.update(metered_usage=_AZ.usage).where(any_of(_AZ.project_id, projects), _AZ.metered_usage.is_null())
    return query.returning(_AZ.project_id, _AZ.resource_id, _AZ.az, _AZ.usage)


def begin_projects(engine: Engine, uuids: Mapping[int, str], now: int) -> None:
    """Begins the account of projects (UUIDs by id), once, with what they use according to the last scrape."""
    refs = {id_: ref for ref, id_ in resource_ids(engine).items()}
    used = [row for row in _meter(engine, uuids) if row[3]]
    steps = [StepRow(uuids[project], *refs[resource], az, now, usage, now) for project, resource, az, usage in used]
    add_steps(engine, steps)


@writes
def _end_names(now: int) -> Node:
    row = MeteredProject
    is_called = (row.project_uuid == Project.uuid) & (row.project_name == Project.name)
    is_called &= (row.domain_uuid == Domain.uuid) & (row.domain_name == Domain.name)
    exists = fn.EXISTS(Project.select(Value(1)).join(Domain).where(is_called))
    return row.update(until=now).where(row.until.is_null(), ~exists)


@writes
def _begin_names(now: int) -> Node:
    row = MeteredProject
    known = row.select(Value(1)).where(row.project_uuid == Project.uuid, row.until.is_null())
    domain = Domain
    new = Project.select(Project.uuid, Cast(now, "BIGINT"), Project.name, domain.uuid, domain.name).join(domain)
    names = [row.project_name, row.domain_uuid, row.domain_name]
    return row.insert_from(new.where(~fn.EXISTS(known)), [row.project_uuid, row.since, *names]).on_conflict(
        conflict_target=[row.project_uuid, row.since], preserve=names, update={row.until: None}
    )


def note_names(engine: Engine, now: int) -> None:
    """Notes what projects and domains are called from now on, where that has changed."""
    _end_names(engine, now)
    _begin_names(engine, now)


_UNIT = [getattr(MeteredUnit, name) for name in ("service_type", "resource_name", "since", "unit")]
_add_units = Insert(tuple[str, str, int, str], MeteredUnit, *_UNIT, key=3)


@collected(tuple[str, str], tuple[int, str])
def _noted_units() -> Node:
    return MeteredUnit.select(*_UNIT).order_by(MeteredUnit.since)


def metered_units(engine: Engine) -> rules.MonthUnits:
    return rules.MonthUnits(_noted_units(engine))


def note_units(engine: Engine, units: Mapping[Ref, str], now: int) -> None:
    """Notes the units of resources from now on, where they have changed."""
    noted = metered_units(engine).noted
    changed = [(ref, unit) for ref, unit in sorted(units.items()) if ref not in noted or noted[ref][-1][1] != unit]
    _add_units(engine, [(*ref, now, unit) for ref, unit in changed])
