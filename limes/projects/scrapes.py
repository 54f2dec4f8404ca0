"""What scrapes of one service store for some projects: usage, quota and their outcome. Writes only changes.

As in all transactions, `projects` are locked before `project_resources`, and these before `project_services`: each in
one order, by resource first, so that those who lock many rows of these tables wait for each other only in this order.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import Struct
from peewee import JOIN, Case, fn

from limes.app.context import Limes
from limes.backends import DomainInfo, ProjectInfo, ResourceUsage
from limes.db.compiled import any_of, keep, lock
from limes.db.compiled_rows import compiled_update, new_value
from limes.db.engine import Engine
from limes.db.query import Insert, Node, columns_of, first_value, locks, made_by, tuples, writes, writes_for
from limes.projects import tasks
from limes.projects.models import Project, ProjectAZResource, ProjectResource, ProjectService


class ResourceRow(NamedTuple):
    """A project's resource. Quota, and the backend's (stored form, see `limes.quota.rules`); totals over all AZs."""

    quota: int | None
    backend_quota: int | None
    usage: int
    physical_usage: int | None
    min_backend_quota: int | None = None
    max_backend_quota: int | None = None
    """What the backend accepts, where it says so."""


class AZRow(NamedTuple):
    """Usage in one AZ. `subresources` is a JSON list, or empty."""

    usage: int
    physical_usage: int | None
    subresources: str
    metered_usage: int | None = None
    """The usage that the account over time knows."""


class Figures(NamedTuple):
    """All figures of the resources of one service in one project."""

    resources: dict[int, ResourceRow]
    azs: dict[tuple[int, str], AZRow]
    """By resource id and AZ."""


def usage_of(figures: Figures, place: tuple[int, str]) -> int:
    row = figures.azs.get(place)
    return row.usage if row else 0


class ServiceState(NamedTuple):
    """Of a row in `project_services`."""

    lease: float | None
    """Until when a claim holds."""
    quota_desynced_at: float | None
    next_push_at: float | None
    drifted_at: float | None
    push_failures: int
    push_error: str
    pushed_at: float | None

    def after(self, seen: float | None, mark_at: float | None, *, in_sync: bool) -> "ServiceState":
        """Returns the state after a successful scrape. `in_sync` tells whether the backend's quota is the wanted one,
        and `mark_at` is a desync mark to set if there is none. `seen` is the mark at the time of the claim: it is
        cleared if the backend is in sync now. A mark that was set after the claim stays, as the report may be older
        than the change behind it."""
        mark = self.quota_desynced_at
        if mark_at is not None and mark is None:
            return self._replace(quota_desynced_at=mark_at, next_push_at=mark_at)
        if mark_at is not None or not in_sync:
            return self
        if seen is not None and mark in (None, seen):
            return ServiceState(self.lease, None, None, None, 0, "", self.pushed_at)
        return self._replace(drifted_at=None) if mark is None else self


class Outcome(NamedTuple):
    """What a successful scrape writes into its row of `project_services`. Times are in seconds since the epoch."""

    id: int
    next_scrape_at: float
    scrape_duration: float
    scrape_state: str | None
    """None: as before."""
    quota_desynced_at: float | None
    next_push_at: float | None
    drifted_at: float | None
    push_failures: int
    push_error: str


@locks
def keep_projects(ids: Collection[int]) -> Node:
    """Keeps the projects from being deleted until the transaction ends."""
    return keep(Project.select(Project.id).where(any_of(Project.id, ids)).order_by(Project.id))


@tuples(
    tuple[
        int, int, int | None, int | None, int, int | None, int | None, int | None,
        str | None, int | None, int | None, str | None, int | None,
    ],
    skip_empty="resources",
)  # fmt: skip
def _lock_figures(projects: Collection[int], resources: Collection[int]) -> Node:
    row, az = ProjectResource.alias("pr"), ProjectAZResource
    query = (
        row.select(
            *(row.project, row.resource, row.quota, row.backend_quota, row.usage, row.physical_usage),
            *(row.min_backend_quota, row.max_backend_quota),
            *(az.az, az.usage, az.physical_usage, az.subresources, az.metered_usage),
        )
        .join(az, JOIN.LEFT_OUTER, on=(az.project_id == row.project) & (az.resource_id == row.resource))
        .where(any_of(row.project, projects), any_of(row.resource, resources))
        .order_by(row.resource, row.project)
    )
    return lock(query, of="pr")


def lock_figures(engine: Engine, projects: Collection[int], resources: Collection[int]) -> dict[int, Figures]:
    """The stored figures of each of these projects. Until the transaction ends, they stay as they are."""
    found: dict[int, Figures] = {project: Figures({}, {}) for project in projects}
    make = tuple.__new__  # half of the time of `_make`
    for row in _lock_figures(engine, projects, resources):
        (known, azs), resource, az = found[row[0]], row[1], row[8]
        if resource not in known:
            known[resource] = make(ResourceRow, row[2:8])
        if az is not None:
            azs[resource, az] = make(AZRow, row[9:])
    return found


@made_by(int, ServiceState, *columns_of(ServiceState))
def lock_states(ids: Collection[int]) -> Node:
    """The state of these rows, by id. Until the transaction ends, they stay as they are."""
    row = ProjectService
    columns = (row.scrape_claimed_until, *(getattr(row, name) for name in ServiceState._fields[1:]))
    return lock(row.select(row.id, *columns).where(any_of(row.id, ids)).order_by(row.id))


_STATE = ProjectService.scrape_state
_write_successes = compiled_update(
    *(getattr(ProjectService, name) for name in Outcome._fields),
    condition=lambda p: ProjectService.scrape_claimed_until.is_null(False),
    also=lambda p: {
        ProjectService.scraped_at: p.now,
        ProjectService.metered_at: p.now,
        ProjectService.checked_at: p.now,
        ProjectService.scrape_error: "",
        ProjectService.scrape_failures: 0,
        ProjectService.failing_since: None,
        ProjectService.scrape_claimed_until: None,
        _STATE: fn.COALESCE(new_value(_STATE), _STATE),
    },
)


def record_successes(engine: Engine, now: float, outcomes: Sequence[Outcome]) -> None:
    """Records that scrapes have succeeded, and ends their claims. The rows are locked."""
    engine.write(_write_successes, rows=outcomes, now=now)


@writes
def set_drift(id_: int, since: float) -> Node:
    """Records since when the backend enforces another quota than the pushed one."""
    return ProjectService.update(drifted_at=since).where(ProjectService.id == id_)


@first_value(int)
def lock_claim(id_: int, lease: float) -> Node:
    """How many scrapes have failed in a row; None if the claim is lost. The row is locked."""
    row = ProjectService
    return lock(row.select(row.scrape_failures).where(row.id == id_, row.scrape_claimed_until == lease))


@writes
def record_failure(id_: int, now: float, next_scrape_at: float, failures: int, error: str) -> Node:
    """Records that a scrape has failed. The figures of the last success stay."""
    row = ProjectService
    return row.update(
        checked_at=now,
        next_scrape_at=next_scrape_at,
        # without an error the old time means nothing: the previous release does not clear it
        failing_since=Case(None, [((row.scrape_error == "") | row.failing_since.is_null(), now)], row.failing_since),
        scrape_error=error,
        scrape_failures=failures,
        scrape_claimed_until=None,
    ).where(row.id == id_)


_write_resources = Insert(
    tuple[Any, ...],
    ProjectResource,
    *(ProjectResource.project, ProjectResource.resource),
    *(getattr(ProjectResource, name) for name in ResourceRow._fields),
    key=2,
)
_write_azs = Insert(
    tuple[Any, ...],
    ProjectAZResource,
    *(ProjectAZResource.project_id, ProjectAZResource.resource_id, ProjectAZResource.az),
    *(getattr(ProjectAZResource, name) for name in AZRow._fields),
    key=3,
)


@writes_for("keys")
def _delete_azs(projects: Collection[int], keys: Collection[str]) -> Node:
    """Of projects, resources and AZs `<project>:<resource>:<AZ>`."""
    row = ProjectAZResource
    key = row.project_id.cast("TEXT").concat(":").concat(row.resource_id.cast("TEXT")).concat(":").concat(row.az)
    return row.delete().where(any_of(row.project_id, projects), any_of(key, keys))


class Changes(NamedTuple):
    """What of the present figures of a project differs from what is stored."""

    resources: Mapping[int, ResourceRow]
    azs: Mapping[tuple[int, str], AZRow]
    """What is new, by resource id and AZ."""
    gone: Collection[tuple[int, str]]
    """Of which AZs there are no figures any more."""


def find_changes(stored: Figures, present: Figures) -> Changes:
    """`stored` must have all figures of these resources."""
    return Changes(
        {id_: row for id_, row in present.resources.items() if row != stored.resources.get(id_)},
        {place: row for place, row in present.azs.items() if row != stored.azs.get(place)},
        [place for place in stored.azs.keys() - present.azs.keys() if place[0] in present.resources],
    )


def write_figures(engine: Engine, changes: Iterable[tuple[int, Changes]]) -> None:
    """Writes what has changed in projects (by id), with three statements at most. What is stored is locked."""
    resources, azs, gone = [], [], []
    for project, changed in changes:
        resources += [(project, id_, *row) for id_, row in changed.resources.items()]
        azs += [(project, *place, *row) for place, row in changed.azs.items()]
        gone += [(project, *place) for place in changed.gone]
    _write_resources(engine, sorted(resources, key=itemgetter(0, 1)))
    _delete_azs(engine, {project for project, _, _ in gone}, [f"{one}:{id_}:{az}" for one, id_, az in gone])
    _write_azs(engine, sorted(azs, key=itemgetter(0, 1, 2)))


def project_info(task: tasks.ProjectTask) -> ProjectInfo:
    """Returns the project as backends know it."""
    domain = DomainInfo(task.domain_uuid, task.domain_name)
    return ProjectInfo(task.project_uuid, task.project_name, task.parent_uuid, domain, task.scrape_state)


class Scrape(Struct, frozen=True):
    """A service of a project, whose figures are written in the present transaction."""

    task: tasks.ProjectTask
    ids: Mapping[str, int]
    """Of the service's resources, by name."""
    stored: Figures
    """What was there before. The rows are locked."""
    present: Figures
    usages: Mapping[str, ResourceUsage]
    """The backend's report, by resource."""
    now: float
    changes: Changes

    @property
    def has_changes(self) -> bool:
        """Whether anything is written but the outcome."""
        return any(self.changes)

    def less_used(self) -> set[int]:
        """Returns the resources whose usage has gone down in any AZ."""
        less = {place[0] for place, row in self.changes.azs.items() if row.usage < usage_of(self.stored, place)}
        return less | {resource for resource, _ in self.changes.gone}


Listener = Callable[[Limes, Sequence[Scrape]], None]
"""Called in the transaction of scrapes of one service, of a project each, whose claims and locks keep all others from
the projects' figures. These are written after it, and what it writes goes to PostgreSQL with them, unless there is a
read after that; so no count of rows comes back."""
