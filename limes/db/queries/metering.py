"""What is written for the account of usage and commitments, when something changes (docs/adr/0032)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from peewee import Value, fn

from limes.db.compiled import Compiled, any_of, compiled, compiled_insert, lock
from limes.db.engine import Engine
from limes.db.models import (
    Domain,
    MeteredProject,
    Project,
    ProjectAZResource,
    ProjectResource,
    ProjectService,
    Resource,
    Service,
    UsageGap,
    UsageStep,
)
from limes.db.queries.usage_sources import Meter

PENDING = 2**62
"""`recorded_at` of what no closed day has counted so far, and might have to be corrected for."""


_ROWS = 5000
"""Of one statement."""


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


_STEP_KEY = [getattr(UsageStep, name) for name in StepRow._fields[:5]]
_ADD_STEPS = compiled_insert(
    UsageStep,
    *(getattr(UsageStep, name) for name in StepRow._fields),
    finish=lambda insert: insert.on_conflict(
        conflict_target=_STEP_KEY, preserve=[UsageStep.usage, UsageStep.recorded_at]
    ),
)


def add_steps(engine: Engine, steps: Sequence[StepRow]) -> None:
    """Adds steps; of two at the same second, the later one counts."""
    if steps:
        rows = [step if step.recorded_at == step.at else step._replace(recorded_at=PENDING) for step in steps]
        engine.write(_ADD_STEPS, rows=rows)


_FORGET_FUTURE = compiled(
    lambda p: UsageStep.delete().where(
        UsageStep.project_uuid == p.project, UsageStep.service_type == p.service_type, UsageStep.at > p.now
    )
)


_FORGET_FUTURE_GAPS = compiled(
    lambda p: UsageGap.delete().where(
        UsageGap.project_uuid == p.project, UsageGap.service_type == p.service_type, UsageGap.begins >= p.now
    )
)
_END_GAPS = compiled(
    lambda p: UsageGap.update(ends=p.now).where(
        UsageGap.project_uuid == p.project, UsageGap.service_type == p.service_type, UsageGap.ends > p.now
    )
)


def forget_future(engine: Engine, project_uuid: str, service_type: str, now: int) -> None:
    """Deletes steps and gaps that a wrong clock has put after `now`."""
    for query in (_FORGET_FUTURE, _FORGET_FUTURE_GAPS, _END_GAPS):
        engine.write(query, project=project_uuid, service_type=service_type, now=now)


_GAP_FIELDS = (UsageGap.project_uuid, UsageGap.service_type, UsageGap.begins, UsageGap.ends, UsageGap.recorded_at)
_ADD_GAPS = compiled_insert(
    UsageGap,
    *_GAP_FIELDS,
    finish=lambda insert: insert.on_conflict(
        conflict_target=list(_GAP_FIELDS[:3]), preserve=[UsageGap.ends, UsageGap.recorded_at]
    ),
)


class GapRow(NamedTuple):
    """A time in which nobody knew what a project used of a service."""

    project_uuid: str
    service_type: str
    begins: int
    ends: int


def add_gaps(engine: Engine, gaps: Sequence[GapRow]) -> None:
    """Adds gaps that have just ended."""
    for start in range(0, len(gaps), _ROWS):
        engine.write(_ADD_GAPS, rows=[(*gap, PENDING) for gap in gaps[start : start + _ROWS]])


# -- what vanishes -----------------------------------------------------------------------------------------------------

_AZ = ProjectAZResource
_METERED = _AZ.metered_usage.is_null(False) & (_AZ.metered_usage > 0)


def _end_steps(engine: Engine, now: int, ended_later: Any, *conditions: Any) -> None:
    """Adds steps to 0. The clock of the host that has scraped last may have been ahead: what it found is over as well.

    `ended_later` selects these steps.
    """
    # nothing is recorded before its time, and there is an index of when it was
    later = UsageStep.delete().where(UsageStep.recorded_at > now, UsageStep.at > now, ended_later)
    recorded_at = PENDING if engine.write(later) else now
    engine.write(_steps_to_zero(now, recorded_at, *conditions))


def _steps_to_zero(now: int, recorded_at: int, *conditions: Any) -> Any:
    ended = (
        _AZ.select(
            Project.uuid,
            Service.type,
            Resource.name,
            _AZ.az,
            Value(now).alias("at"),
            Value(0).alias("usage"),
            Value(recorded_at).cast("BIGINT"),
        )
        .join(Project, on=_AZ.project_id == Project.id)
        .join(Resource, on=_AZ.resource_id == Resource.id)
        .join(Service, on=Resource.service == Service.id)
        .where(_METERED, *conditions)
    )
    return UsageStep.insert_from(ended, [getattr(UsageStep, name) for name in StepRow._fields]).on_conflict(
        conflict_target=_STEP_KEY, preserve=[UsageStep.usage, UsageStep.recorded_at]
    )


_FIGURES, _SCRAPES = ProjectResource.alias("pr"), ProjectService.alias("ps")


def _lock_of_projects(row: Any, alias: str, *order: Any) -> Compiled:
    return compiled(
        lambda p: lock(
            row.select(row.project)
            .join(Project, on=row.project == Project.id)
            .where(any_of(Project.uuid, p.projects))
            .order_by(*order),
            of=alias,
        )
    )


# in the order of all transactions; the second also stops first scrapes, which have no figures yet
_LOCKS = (
    _lock_of_projects(_FIGURES, "pr", _FIGURES.resource, _FIGURES.project),
    _lock_of_projects(_SCRAPES, "ps", _SCRAPES.id),
)


_CUT_GAPS = (
    compiled(lambda p: UsageGap.delete().where(any_of(UsageGap.project_uuid, p.projects), UsageGap.begins >= p.now)),
    compiled(
        lambda p: UsageGap.update(ends=p.now).where(any_of(UsageGap.project_uuid, p.projects), UsageGap.ends > p.now)
    ),
)


def end_projects(
    engine: Engine, uuids: Collection[str], now: int, last_usages: Callable[[], Mapping[Meter, int]]
) -> None:
    """Ends the account of projects (by UUID) that are about to be deleted. Waits for scrapes that are just being
    written: the last of them counts. `last_usages` says what the account knows last: there may be no row of that any
    more, after a scrape by the previous release."""
    if uuids:
        for query in _LOCKS:
            engine.column(query, projects=sorted(uuids))
        _end_steps(engine, now, any_of(UsageStep.project_uuid, uuids), any_of(Project.uuid, uuids))
        add_steps(engine, [StepRow(*meter, now, 0, now) for meter, usage in last_usages().items() if usage])
        for gaps in _CUT_GAPS:
            engine.write(gaps, projects=sorted(uuids), now=now)


def end_resources(engine: Engine, resource_ids: Collection[int], now: int) -> None:
    """Ends the account of resources that are offered no more. Their usage is metered anew if they come back. To be
    called again from time to time: a scrape that had begun before may end after this."""
    if not resource_ids:
        return
    resource = (
        Resource.select(Value(1))
        .join(Service)
        .where(
            any_of(Resource.id, resource_ids),
            UsageStep.resource_name == Resource.name,
            UsageStep.service_type == Service.type,
        )
    )
    _end_steps(engine, now, fn.EXISTS(resource), any_of(_AZ.resource_id, resource_ids))
    engine.write(_AZ.update(metered_usage=None).where(any_of(_AZ.resource_id, resource_ids), _METERED))


_METERED_BY_OTHERS = compiled(
    lambda p: (
        Resource.select(Project.uuid, Service.type, Resource.name)
        .join(Service, on=Resource.service == Service.id)
        .join(ProjectService, on=ProjectService.service == Service.id)
        .join(Project, on=ProjectService.project == Project.id)
        .where(any_of(Resource.id, p.resources), ProjectService.scraped_at.is_null(False))
        .where(ProjectService.metered_at.is_null() | (ProjectService.metered_at != ProjectService.scraped_at))
    )
)


def metered_by_others(engine: Engine, resource_ids: Collection[int]) -> list[tuple[str, str, str]]:
    """Returns the projects (UUID), services and names of resources that were scraped last by the previous release: it
    has deleted rows of AZs in which nothing is used any more, and told the account nothing."""
    return engine.tuples(_METERED_BY_OTHERS, resources=resource_ids)


# -- the beginning -----------------------------------------------------------------------------------------------------

_METER = compiled(
    lambda p: (
        _AZ.update(metered_usage=_AZ.usage)
        .where(any_of(_AZ.project_id, p.projects), _AZ.metered_usage.is_null())
        .returning(_AZ.project_id, _AZ.resource_id, _AZ.az, _AZ.usage)
    )
)
_REFS = compiled(lambda p: Resource.select(Resource.id, Service.type, Resource.name).join(Service))


def begin_projects(engine: Engine, uuids: Mapping[int, str], now: int) -> None:
    """Begins the account of projects (UUIDs by id) with what they use according to the last scrape. To be called
    once."""
    refs = {id_: (service, name) for id_, service, name in engine.tuples(_REFS)}
    metered = engine.tuples(_METER, projects=[*uuids])
    add_steps(
        engine,
        [
            StepRow(uuids[project], *refs[resource], az, now, usage, now)
            for project, resource, az, usage in metered
            if usage
        ],
    )


# -- names -------------------------------------------------------------------------------------------------------------

_IS_CALLED = (
    (MeteredProject.project_uuid == Project.uuid)
    & (MeteredProject.project_name == Project.name)
    & (MeteredProject.domain_uuid == Domain.uuid)
    & (MeteredProject.domain_name == Domain.name)
)
_END_NAMES = compiled(
    lambda p: MeteredProject.update(until=p.now).where(
        MeteredProject.until.is_null(),
        ~fn.EXISTS(Project.select(Value(1)).join(Domain).where(_IS_CALLED)),
    )
)
_NAME_FIELDS = [
    *(MeteredProject.project_uuid, MeteredProject.since, MeteredProject.project_name),
    *(MeteredProject.domain_uuid, MeteredProject.domain_name),
]
_BEGIN_NAMES = compiled(
    lambda p: MeteredProject.insert_from(
        Project.select(Project.uuid, p.now.cast("BIGINT"), Project.name, Domain.uuid, Domain.name)
        .join(Domain)
        .where(
            ~fn.EXISTS(
                MeteredProject.select(Value(1)).where(
                    MeteredProject.project_uuid == Project.uuid, MeteredProject.until.is_null()
                )
            )
        ),
        _NAME_FIELDS,
    ).on_conflict(
        conflict_target=[MeteredProject.project_uuid, MeteredProject.since],
        preserve=[MeteredProject.project_name, MeteredProject.domain_uuid, MeteredProject.domain_name],
        update={MeteredProject.until: None},
    )
)


def note_names(engine: Engine, now: int) -> None:
    """Notes what projects and domains are called from now on, where that has changed."""
    engine.write(_END_NAMES, now=now)
    engine.write(_BEGIN_NAMES, now=now)
