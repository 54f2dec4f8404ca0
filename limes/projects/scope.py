"""What a question is about: the cluster, a domain or a project; and how their rows are found."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from limes.backends.calls import no_report
from limes.catalog.catalog import Ref, Selection
from limes.catalog.queries import resource_ids
from limes.db.compiled import Select
from limes.db.engine import Engine
from limes.db.query import Build, P, Query, R, made
from limes.kernel.errors import NotFound, NotReady
from limes.kernel.units import Unit
from limes.projects import models, queries

Target = queries.DomainRow | queries.ProjectRow


class Place(NamedTuple):
    """The domain or project, by UUIDs, that a request is about; the whole cloud without any."""

    domain_uuid: str = ""
    project_uuid: str = ""


def find(engine: Engine, place: Place) -> Target:
    """Returns the domain or project. Raises `NotFound` in the words that clients know."""
    if place.project_uuid:
        return find_project(engine, place.domain_uuid, place.project_uuid)
    return find_domain(engine, place.domain_uuid)


def ids_of(target: Target) -> tuple[int, int | None]:
    """Returns the ids of the domain and of the project, if it is one."""
    return (target.domain_id, target.id) if isinstance(target, queries.ProjectRow) else (target.id, None)


def find_domain(engine: Engine, uuid: str) -> queries.DomainRow:
    """Returns the domain of that UUID. Raises `NotFound` in the words that clients know."""
    row = queries.domain(engine, uuid)
    if row is None:
        raise NotFound("no such domain (if it was just created, try to POST /domains/discover)")
    return row


def find_project(engine: Engine, domain_uuid: str, uuid: str) -> queries.ProjectRow:
    """Returns the project of that UUID in that domain. Raises `NotFound` in the words that clients know."""
    row = queries.project(engine, domain_uuid, uuid)
    if row is not None:
        return row
    find_domain(engine, domain_uuid)
    if queries.project_exists(engine, uuid):
        raise NotFound("no such project")
    raise NotFound(f"no such project (if it was just created, try to POST /domains/{domain_uuid}/projects/discover)")


def not_ready(engine: Engine, project_id: int, missing: Collection[Ref]) -> NotReady:
    """Returns the error for a project whose services were not scraped yet, with one line for each of these resources.
    Inside a transaction."""
    services = sorted({service_type for service_type, _ in missing})
    states = queries.scrape_states(engine, project_id, services)
    failing = {type_: since for type_, (_, since) in states.items() if since is not None}
    failing = queries.outages(engine, [type_ for type_ in services if type_ not in failing]) | failing
    times = [(ref, states.get(ref[0], (None, None))[0], failing.get(ref[0])) for ref in sorted(missing)]
    return NotReady("\n".join(no_report(*each) for each in times))


class Scope(NamedTuple):
    """Whose rows to read. `id` is that of the domain or project in the database, and 0 for the cluster."""

    level: Literal["cluster", "domain", "project"]
    id: int = 0


CLUSTER = Scope("cluster")


def in_scope(query: Select, scope: Scope) -> Select:
    """Restricts a query that joins `Project` to the scope."""
    if scope.level == "cluster":
        return query
    return query.where((models.Project.domain if scope.level == "domain" else models.Project.id) == scope.id)


class PlacedRow(NamedTuple):
    uuid: str
    name: str
    domain_uuid: str
    domain_name: str


PLACE = (models.Project.uuid, models.Project.name, models.Domain.uuid, models.Domain.name)


def placed(kind: type[R], *others: Any, **options: Any) -> Callable[[Build[P]], Query[P, list[R]]]:
    """As `rows`, for rows that begin with a `PlacedRow`: the columns are `PLACE` and others of these types."""
    of_place, of_kind = partial(tuple.__new__, PlacedRow), partial(tuple.__new__, kind)  # a third of the time of calls
    return made(lambda *row: of_kind((of_place(row[:4]), *row[4:])), *[str] * 4, *others, **options)


class NamedResource(Struct, frozen=True):
    ref: Ref
    unit: Unit


def scope_of(engine: Engine, place: Place) -> Scope:
    """Returns whose rows to read. Raises `NotFound`."""
    if not place.domain_uuid:
        return CLUSTER
    if not place.project_uuid:
        return Scope("domain", find_domain(engine, place.domain_uuid).id)
    return Scope("project", find_project(engine, place.domain_uuid, place.project_uuid).id)


def named_resources(engine: Engine, selection: Selection) -> dict[int, NamedResource]:
    """Returns the selected resources by id, in the order of reports."""
    ids = resource_ids(engine)
    return {
        ids[service_type, resource.name]: NamedResource((service_type, resource.name), resource.unit)
        for service_type, (_, resources) in selection.services.items()
        for resource in resources
        if (service_type, resource.name) in ids
    }
