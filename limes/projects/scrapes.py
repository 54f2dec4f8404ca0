"""What a scrape of one service of one project stores: usage, quota and its outcome. Writes only changes.

As in all transactions, `project_resources` are locked before `project_services`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from peewee import JOIN, Case, fn

from limes.app.context import Limes
from limes.backends import DomainInfo, ProjectInfo, ResourceUsage
from limes.db.compiled import any_of, keep, lock
from limes.db.engine import Engine
from limes.db.query import Insert, Node, columns_of, first, first_value, made, writes, writes_for
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


AZRows = Mapping[tuple[int, str], AZRow]
"""By resource id and AZ."""


class Figures(NamedTuple):
    """All figures of the resources of one service in one project."""

    resources: Mapping[int, ResourceRow]
    azs: AZRows


class ScrapeResult(NamedTuple):
    """What to write after a successful scrape. Times are in seconds since the epoch."""

    now: float
    next_scrape_at: float
    duration: float
    in_sync: bool
    """Whether the backend's quota is the wanted one."""
    mark_at: float | None = None
    """A desync mark to set if there is none."""


class QuotaState(NamedTuple):
    """What is known of the quota in the backend after the outcome was written."""

    quota_desynced_at: float | None
    drifted_at: float | None
    pushed_at: float | None


@first_value(int)
def keep_project(id_: int) -> Node:
    """Keeps the project from being deleted until the transaction ends. None if it is gone."""
    return keep(Project.select(Project.id).where(Project.id == id_))


_OF_AZ = (str | None, int | None, int | None, str | None, int | None)


@made(lambda *row: row, int, *columns_of(ResourceRow), *_OF_AZ, skip_empty="resources")
def _lock_figures(project_id: int, resources: Collection[int]) -> Node:
    row, az = ProjectResource.alias("pr"), ProjectAZResource
    query = (
        row.select(
            *(row.resource, row.quota, row.backend_quota, row.usage, row.physical_usage),
            *(row.min_backend_quota, row.max_backend_quota),
            *(az.az, az.usage, az.physical_usage, az.subresources, az.metered_usage),
        )
        .join(az, JOIN.LEFT_OUTER, on=(az.project_id == row.project) & (az.resource_id == row.resource))
        .where(row.project == project_id, any_of(row.resource, resources))
        .order_by(row.resource)
    )
    return lock(query, of="pr")


def lock_figures(engine: Engine, project_id: int, resources: Collection[int]) -> Figures:
    """The stored figures. Until the transaction ends, they stay as they are."""
    found = _lock_figures(engine, project_id, resources)
    return Figures(
        {row[0]: ResourceRow._make(row[1:7]) for row in found},
        {(row[0], row[7]): AZRow._make(row[8:]) for row in found if row[7] is not None},
    )


@first(QuotaState)
def record_success(
    id_: int, lease: float, outcome: ScrapeResult, seen_mark: float | None, scrape_state: str | None = None
) -> Node:
    """Records that a scrape has succeeded, and ends its claim. None if the claim is lost: then nothing is written.
    `seen_mark` is the desync mark at the time of the claim. It is cleared if the backend is in sync now. A mark that
    was set after the claim stays: the report may be older than the change behind it. A `scrape_state` of None changes
    nothing."""
    row = ProjectService
    changes: dict[Any, Any] = {}
    if outcome.mark_at is not None:
        changes = {one: fn.COALESCE(one, outcome.mark_at) for one in (row.quota_desynced_at, row.next_push_at)}
    elif outcome.in_sync and seen_mark is None:
        changes = {row.drifted_at: Case(None, [(row.quota_desynced_at.is_null(), None)], row.drifted_at)}
    elif outcome.in_sync:
        is_seen = fn.COALESCE(row.quota_desynced_at, seen_mark) == seen_mark
        cleared: dict[Any, Any] = dict.fromkeys((row.quota_desynced_at, row.next_push_at, row.drifted_at))
        cleared |= {row.push_failures: 0, row.push_error: ""}
        changes = {one: Case(None, [(is_seen, value)], one) for one, value in cleared.items()}
    return (
        row.update(
            changes,
            scraped_at=outcome.now,
            metered_at=outcome.now,
            checked_at=outcome.now,
            next_scrape_at=outcome.next_scrape_at,
            scrape_duration=outcome.duration,
            scrape_error="",
            scrape_failures=0,
            failing_since=None,
            scrape_claimed_until=None,
            scrape_state=fn.COALESCE(scrape_state, row.scrape_state),
        )
        .where(row.id == id_, row.scrape_claimed_until == lease)
        .returning(row.quota_desynced_at, row.drifted_at, row.pushed_at)
    )


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
def _delete_azs(project_id: int, keys: Collection[str]) -> Node:
    key = ProjectAZResource.resource_id.cast("TEXT").concat(":").concat(ProjectAZResource.az)
    return ProjectAZResource.delete().where(ProjectAZResource.project_id == project_id, any_of(key, keys))


def write_figures(engine: Engine, project_id: int, stored: Figures, present: Figures) -> None:
    """Writes the figures in `present` where they differ from `stored`, with three statements at most. `stored` must
    have all figures of these resources, and be locked."""
    resources = [row for row in present.resources.items() if row not in stored.resources.items()]
    _write_resources(engine, [(project_id, resource, *row) for resource, row in sorted(resources)])
    gone = [key for key in stored.azs if key[0] in present.resources and key not in present.azs]
    _delete_azs(engine, project_id, [f"{resource}:{az}" for resource, az in gone])
    azs = [row for row in present.azs.items() if row not in stored.azs.items()]
    _write_azs(engine, [(project_id, *key, *row) for key, row in sorted(azs, key=itemgetter(0))])


def less_used(stored: Figures, present: Figures) -> set[int]:
    """Returns the resources whose usage has gone down in any AZ."""
    return {
        place[0]
        for place, row in stored.azs.items()
        if place[0] in present.resources and (place not in present.azs or present.azs[place].usage < row.usage)
    }


def project_info(task: tasks.ProjectTask) -> ProjectInfo:
    """Returns the project as backends know it."""
    domain = DomainInfo(task.domain_uuid, task.domain_name)
    return ProjectInfo(task.project_uuid, task.project_name, task.parent_uuid, domain, task.scrape_state)


@dataclass(frozen=True, slots=True)
class Scrape:
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


Listener = Callable[[Limes, Scrape], None]
"""Called in the transaction of the scrape, whose claim and locks keep all others from the project's figures. These are
written after it, and what it writes goes to PostgreSQL with them, unless there is a read after that; so no count of
rows comes back."""
