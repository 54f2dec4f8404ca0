"""What needs attention: failing scrapes by service, projects near their quota, commitments that end soon.

Each query is for the whole cluster, one domain or one project, as its `Scope` says.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import peewee
from peewee import Case, fn

from limes.catalog.models import Capacitor, Resource, Service
from limes.commitments.models import Commitment
from limes.commitments.queries import renews_itself, was_renewed
from limes.db.compiled import Select, any_of
from limes.db.query import Node, rows, value
from limes.projects.models import Domain, Project, ProjectResource, ProjectService
from limes.projects.queries import FAILING_SINCE
from limes.projects.scope import PLACE, PlacedRow, Scope, in_scope, placed

# -- scrapes -----------------------------------------------------------------------------------------------------------


class ServiceScrapes(NamedTuple):
    """The scrapes of one service. Times are seconds since the epoch; None where there is none."""

    service_type: str
    projects: int
    failing: int
    failing_since: float | None
    """When the first of those failures began."""
    unwritten: int
    """Projects whose quota could not be written at the last attempt."""
    checked_at: float | None
    oldest: float | None
    newest: float | None


class CapacitorScrape(NamedTuple):
    """The last scrape of a capacitor. `error` is empty if it succeeded."""

    name: str
    scraped_at: float | None
    checked_at: float | None
    next_scrape_at: float
    error: str

    @property
    def ok(self) -> bool:
        return self.scraped_at is not None and not self.error


def count_if(condition: Any) -> peewee.Function:
    return fn.COUNT(Case(None, [(condition, 1)]))


@rows(ServiceScrapes)
def service_scrapes(scope: Scope) -> Node:
    row = ProjectService
    query = (
        row.select(
            *(Service.type, fn.COUNT(row.id), count_if(row.scrape_error != ""), fn.MIN(FAILING_SINCE)),
            *(count_if(row.push_error != ""), fn.MAX(row.checked_at), fn.MIN(row.scraped_at), fn.MAX(row.scraped_at)),
        )
        .join_from(row, Service)
        .join_from(row, Project)
        .where(Service.vanished_at.is_null())
        .group_by(Service.type)
        .order_by(Service.type)
    )
    return in_scope(query, scope)


@rows(CapacitorScrape)
def capacitor_scrapes() -> Node:
    row = Capacitor
    columns = (row.name, row.scraped_at, row.checked_at, row.next_scrape_at, row.scrape_error)
    return row.select(*columns).order_by(row.name)


class CapacityDrop(NamedTuple):
    """A resource whose capacity is kept, though the last answer of its capacitor had much less."""

    resource_id: int
    capacitor: str
    seen_at: float


@rows(CapacityDrop)
def capacity_drops() -> Node:
    return (
        Resource.select(Resource.id, Capacitor.name, Resource.capacity_drop_seen_at)
        .join(Capacitor)
        .where(Resource.capacity_drop_seen_at.is_null(False))
        .order_by(Resource.id)
    )


# -- quotas ------------------------------------------------------------------------------------------------------------


class FullRow(NamedTuple):
    project: PlacedRow
    resource_id: int
    quota: int
    usage: int


class FullCounts(NamedTuple):
    """How many resources of projects there are above each share. Each count includes the next one."""

    above: int
    above_95: int
    above_quota: int


_QUOTA, _USAGE = ProjectResource.quota, ProjectResource.usage
_ONE, _MOST = peewee.Value(1.0, converter=False), peewee.Value(0.95, converter=False)  # as integers they were 1 and 0


def fullness() -> Any:
    """Returns the share of its quota that a project uses. Without any quota, any usage is more than everything."""
    return Case(None, [(_QUOTA > 0, _USAGE * _ONE / _QUOTA)], peewee.Value(1e18))


def above_share(scope: Scope, resources: Sequence[int], share: float, *columns: Any) -> Select:
    """Selects from resources where a project uses more than this share of its quota, with `Project` and `Domain`."""
    is_above = (any_of(ProjectResource.resource, resources), _QUOTA.is_null(False), _QUOTA * share < _USAGE)
    return in_scope(ProjectResource.select(*columns).join(Project).join(Domain).where(*is_above), scope)


@placed(FullRow, int, int, int)
def fullest(scope: Scope, resources: Sequence[int], share: float, limit: int) -> Node:
    query = above_share(scope, resources, share, *PLACE, ProjectResource.resource, _QUOTA, _USAGE)
    return query.order_by(fullness().desc(), _USAGE.desc(), Domain.name, Project.name).limit(limit)


@rows(FullCounts)
def count_full(scope: Scope, resources: Sequence[int], share: float) -> Node:
    """How many there are, as the only row."""
    counts = (fn.COUNT(ProjectResource.resource), count_if(_QUOTA * _MOST < _USAGE), count_if(_USAGE > _QUOTA))
    return above_share(scope, resources, share, *counts)


# -- commitments -------------------------------------------------------------------------------------------------------


class EndingRow(NamedTuple):
    """A commitment, and whose it is. Times are seconds since the epoch."""

    project: PlacedRow
    id: int
    uuid: str
    resource_id: int
    az: str
    amount: int
    duration: str
    expires_at: float


ENDING = (
    *(*PLACE, Commitment.id, Commitment.uuid, Commitment.resource, Commitment.az, Commitment.amount),
    *(Commitment.duration, Commitment.expires_at),
)


def _ending(scope: Scope, resources: Sequence[int], now: float, until: float, *columns: Any) -> Select:
    row = Commitment
    is_wanted = (any_of(row.resource, resources), row.status == "confirmed", ~renews_itself(row), ~was_renewed(row))
    ends = (row.expires_at > now, row.expires_at <= until)
    return in_scope(row.select(*columns).join(Project).join(Domain).where(*is_wanted, *ends), scope)


@placed(EndingRow, int, str, int, str, int, str, float)
def ending(scope: Scope, resources: Sequence[int], now: float, until: float, limit: int) -> Node:
    """Confirmed commitments that end between these times and that were not renewed, the first to end first."""
    query = _ending(scope, resources, now, until, *ENDING)
    return query.order_by(Commitment.expires_at, Commitment.id).limit(limit)


@value(int)
def count_ending(scope: Scope, resources: Sequence[int], now: float, until: float) -> Node:
    return _ending(scope, resources, now, until, fn.COUNT(Commitment.id))
