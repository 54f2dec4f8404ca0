"""Projects as lists show them. Each process keeps those of whole domains while they are the same: they seldom change,
and to read their names and to write them as JSON would be much of what a list costs."""

from collections.abc import Sequence
from itertools import repeat
from threading import Lock
from typing import NamedTuple

from limes.api.answers import Named
from limes.db.compiled import fingerprint
from limes.db.engine import Engine
from limes.db.query import Node, first
from limes.projects.models import Domain, Project
from limes.projects.queries import OWN_COLUMNS, DomainRow, ProjectRow, projects_of_domain
from limes.reports import project_answers as answers
from limes.web.encoding import dump_part, dump_texts

MOST = 30_000
"""Projects that a process keeps, in some 20 MB."""
_PROJECT = answers.Project("", "", parent_id="", services=[])
_PLACED = answers.PlacedProject(domain=Named("", ""), id="", name="", parent_id="", services=[])


class ProjectList(NamedTuple):
    rows: dict[int, ProjectRow]
    """By their ids, in the order of their UUIDs."""
    heads: list[str]
    """Each as JSON, up to its services."""


class _ListedDomain(NamedTuple):
    id: int
    uuid: str
    name: str
    projects: str | None
    """A fingerprint of all that is listed of them."""


_kept: dict[_ListedDomain, ProjectList] = {}
_lock = Lock()


@first(_ListedDomain, prepare=True)
def _listed_domain(uuid: str) -> Node:
    projects = Project.select(fingerprint(*OWN_COLUMNS)).where(Project.domain == Domain.id)
    return Domain.select(Domain.id, Domain.uuid, Domain.name, projects).where(Domain.uuid == uuid)


def find_list(engine: Engine, domain_uuid: str) -> tuple[int, ProjectList] | None:
    """Returns the id of a domain, and its projects; None if there is no such domain. In a snapshot: what is kept has to
    be of the state that was looked at. Callers share it."""
    domain = _listed_domain(engine, domain_uuid)
    if domain is None:
        return None
    projects = _kept.get(domain)
    if projects is None:
        projects = make_list(projects_of_domain(engine, DomainRow(*domain[:3])))
        _keep(domain, projects)
    return domain.id, projects


def _keep(domain: _ListedDomain, projects: ProjectList) -> None:
    """Drops what was read first if it is too much."""
    with _lock:
        _kept[domain] = projects
        number = sum(len(each.rows) for each in _kept.values())
        while number > MOST:
            number -= len(_kept.pop(next(iter(_kept))).rows)


def make_list(projects: Sequence[ProjectRow], *, with_domain: bool = False) -> ProjectList:
    """Returns a list of these projects, each with its domain or without."""
    rows = {project.id: project for project in projects}
    if not rows:
        return ProjectList(rows, [])
    _, uuids, names, parents, _, _, *domains = zip(*projects, strict=True)
    starts = dump_part(_PLACED if with_domain else _PROJECT).decode().replace('""', '"\0"').split("\0")
    columns = map(dump_texts, (*domains, uuids, names, parents) if with_domain else (uuids, names, parents))
    parts = [part for start, texts in zip(starts, columns, strict=False) for part in (repeat(start), texts)]
    return ProjectList(rows, [*map("".join, zip(*parts, repeat('","services":['), strict=False))])
