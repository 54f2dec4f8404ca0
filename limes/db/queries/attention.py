"""What needs somebody's attention: failing scrapes by service, projects near their quota, commitments that end soon.

Each query is for the whole cluster, one domain or one project, as its `Scope` says.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import peewee
from peewee import Case, fn

from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Capacitor, Commitment, Domain, Project, ProjectResource, ProjectService, Resource, Service
from limes.db.queries.project_scrapes import FAILING_SINCE


class Scope(NamedTuple):
    """Whose rows to read. `id` is that of the domain or project in the database, and 0 for the cluster."""

    level: Literal["cluster", "domain", "project"]
    id: int = 0


EVERYWHERE = Scope("cluster")


def in_scope(query: Select, p: Parameters, level: str) -> Select:
    """Restricts a query that joins `Project` to the scope whose id is the parameter `scope`."""
    if level == "cluster":
        return query
    return query.where((Project.domain if level == "domain" else Project.id) == p.scope)


class PlacedRow(NamedTuple):
    """A project with its domain."""

    uuid: str
    name: str
    domain_uuid: str
    domain_name: str


PLACE = (Project.uuid, Project.name, Domain.uuid, Domain.name)

# -- scrapes -----------------------------------------------------------------------------------------------------------


class ServiceScrapes(NamedTuple):
    """The scrapes of one service. Times are seconds since the epoch; None where there is none."""

    service_type: str
    projects: int
    failing: int
    """Projects whose last scrape failed."""
    failing_since: float | None
    """When the first of those failures began."""
    unwritten: int
    """Projects whose quota could not be written at the last attempt."""
    checked_at: float | None
    """When the last scrape was tried."""
    oldest: float | None
    newest: float | None


class CapacitorScrape(NamedTuple):
    """The last scrape of a capacitor. `error` is empty if it succeeded."""

    name: str
    scraped_at: float | None
    checked_at: float | None
    error: str


@cache
def _service_scrapes(level: str) -> Compiled:
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
    return compiled(lambda p: in_scope(query, p, level))


def count_if(condition: Any) -> peewee.Function:
    """Counts the rows of which the condition holds."""
    return fn.COUNT(Case(None, [(condition, 1)]))


def service_scrapes(engine: Engine, scope: Scope) -> list[ServiceScrapes]:
    """Returns how the scrapes of each configured service go, by type."""
    return engine.all(_service_scrapes(scope.level), ServiceScrapes, scope=scope.id)


_CAPACITORS = compiled(
    lambda p: Capacitor.select(
        Capacitor.name, Capacitor.scraped_at, Capacitor.checked_at, Capacitor.scrape_error
    ).order_by(Capacitor.name)
)


def capacitor_scrapes(engine: Engine) -> list[CapacitorScrape]:
    """Returns how the last scrape of each capacitor went, by name."""
    return engine.all(_CAPACITORS, CapacitorScrape)


class CapacityDrop(NamedTuple):
    """A resource whose capacity is kept, though the last answer of its capacitor had much less."""

    resource_id: int
    capacitor: str
    seen_at: float


_DROPS = compiled(
    lambda p: (
        Resource.select(Resource.id, Capacitor.name, Resource.capacity_drop_seen_at)
        .join(Capacitor)
        .where(Resource.capacity_drop_seen_at.is_null(False))
        .order_by(Resource.id)
    )
)


def capacity_drops(engine: Engine) -> list[CapacityDrop]:
    """Returns all of these."""
    return engine.all(_DROPS, CapacityDrop)


# -- quotas ------------------------------------------------------------------------------------------------------------


class FullRow(NamedTuple):
    """A resource of which a project uses a large share of its quota."""

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


def above_share(p: Parameters, level: str, share: Any, *columns: Any) -> Select:
    """Selects from resources of which a project uses more than this share of its quota, with `Project` and `Domain`."""
    query = (
        ProjectResource.select(*columns)
        .join(Project)
        .join(Domain)
        .where(any_of(ProjectResource.resource, p.resources), _QUOTA.is_null(False), _QUOTA * share < _USAGE)
    )
    return in_scope(query, p, level)


@cache
def _fullest(level: str) -> Compiled:
    columns = (*PLACE, ProjectResource.resource, _QUOTA, _USAGE)
    order = (fullness().desc(), _USAGE.desc(), Domain.name, Project.name)
    return compiled(lambda p: above_share(p, level, p.share, *columns).order_by(*order).limit(p.limit))


@cache
def _full_counts(level: str) -> Compiled:
    counts = (fn.COUNT(ProjectResource.resource), count_if(_QUOTA * _MOST < _USAGE), count_if(_USAGE > _QUOTA))
    return compiled(lambda p: above_share(p, level, p.share, *counts))


def fullest(engine: Engine, scope: Scope, resources: Sequence[int], share: float, limit: int) -> list[FullRow]:
    """Returns resources of which a project uses more than this share of its quota, the fullest first."""
    values = {"scope": scope.id, "resources": resources, "share": share, "limit": limit}
    rows = engine.tuples(_fullest(scope.level), **values)
    return [FullRow(PlacedRow(*row[:4]), *row[4:]) for row in rows]


def count_full(engine: Engine, scope: Scope, resources: Sequence[int], share: float) -> FullCounts:
    """Returns how many there are."""
    (row,) = engine.tuples(_full_counts(scope.level), scope=scope.id, resources=resources, share=share)
    return FullCounts(*row)


# -- commitments -------------------------------------------------------------------------------------------------------


class EndingRow(NamedTuple):
    """A confirmed commitment that ends soon."""

    project: PlacedRow
    id: int
    uuid: str
    resource_id: int
    az: str
    amount: int
    duration: str
    expires_at: float


def renews_itself(commitment: Any) -> Any:
    """The condition that nobody has to think of a commitment's end."""
    return commitment.auto_renews & (commitment.renewal_error == "")


def _ending(p: Parameters, level: str, *columns: Any) -> Select:
    following = Commitment.alias("following")
    is_renewed = fn.EXISTS(
        following.select(following.id).where(
            following.predecessor == Commitment.id, following.status.in_(["planned", "pending", "confirmed"])
        )
    )
    query = (
        Commitment.select(*columns)
        .join(Project)
        .join(Domain)
        .where(
            any_of(Commitment.resource, p.resources),
            Commitment.status == "confirmed",
            Commitment.expires_at > p.now,
            Commitment.expires_at <= p.until,
            ~renews_itself(Commitment),
            ~is_renewed,
        )
    )
    return in_scope(query, p, level)


@cache
def _ending_first(level: str) -> Compiled:
    row = Commitment
    columns = (*PLACE, row.id, row.uuid, row.resource, row.az, row.amount, row.duration, row.expires_at)
    return compiled(lambda p: _ending(p, level, *columns).order_by(row.expires_at, row.id).limit(p.limit))


@cache
def _count_ending(level: str) -> Compiled:
    return compiled(lambda p: _ending(p, level, fn.COUNT(Commitment.id)))


def ending(
    engine: Engine, scope: Scope, resources: Sequence[int], now: float, until: float, limit: int
) -> list[EndingRow]:
    """Returns confirmed commitments that end between these times and that were not renewed, the first to end first."""
    values = {"scope": scope.id, "resources": resources, "now": now, "until": until, "limit": limit}
    rows = engine.tuples(_ending_first(scope.level), **values)
    return [EndingRow(PlacedRow(*row[:4]), *row[4:]) for row in rows]


def count_ending(engine: Engine, scope: Scope, resources: Sequence[int], now: float, until: float) -> int:
    """Returns how many there are."""
    values = {"scope": scope.id, "resources": resources, "now": now, "until": until}
    (count,) = engine.column(_count_ending(scope.level), **values)
    return int(count)
