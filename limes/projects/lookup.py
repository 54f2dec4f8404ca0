"""Finds the domain or project that a request names, or says why it does not exist or has no figures yet."""

from collections.abc import Collection
from typing import NamedTuple

from limes.backends.scrape_problem import no_report
from limes.catalog.catalog import Ref
from limes.db.engine import Engine
from limes.kernel.errors import NotFound, NotReady
from limes.projects import queries

Target = queries.DomainRow | queries.ProjectRow


class Place(NamedTuple):
    """The domain or project, by UUIDs, that a request is about. A domain has no project."""

    domain_uuid: str
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
