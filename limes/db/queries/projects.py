"""Projects, and the conditions that select their rows in other tables."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, TypeVar

import peewee

from limes.core.selection import Page
from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Domain, Project

R = TypeVar("R", bound=NamedTuple)


class ProjectRow(NamedTuple):
    """A project with its domain."""

    id: int
    uuid: str
    name: str
    parent_uuid: str
    has_bursting: bool
    domain_id: int
    domain_uuid: str
    domain_name: str

    @property
    def scope(self) -> str:
        """The project as the patterns of the configuration name it (`limes.core.catalog`)."""
        return f"{self.domain_name}/{self.name}"


PROJECT_COLUMNS = (
    Project.id, Project.uuid, Project.name, Project.parent_uuid, Project.has_bursting, Domain.id, Domain.uuid,
    Domain.name,
)  # fmt: skip
"""Those of a `ProjectRow`."""


def _select_projects() -> Select:
    return Project.select(*PROJECT_COLUMNS).join(Domain)


_PROJECT = compiled(lambda p: _select_projects().where(Project.uuid == p.uuid, Domain.uuid == p.domain))
_EXISTS = compiled(lambda p: Project.select(Project.id).where(Project.uuid == p.uuid))
_OF_DOMAIN = compiled(lambda p: _select_projects().where(Domain.uuid == p.domain).order_by(Project.uuid))
_PAGE_OF_DOMAIN = compiled(
    lambda p: (
        _select_projects().where(Domain.uuid == p.domain, Project.uuid > p.marker).order_by(Project.uuid).limit(p.limit)
    )
)
_PAGE = compiled(lambda p: _select_projects().where(Project.uuid > p.marker).order_by(Project.uuid).limit(p.limit))


def project(engine: Engine, domain_uuid: str, uuid: str) -> ProjectRow | None:
    """Returns the project of that UUID, if it is in the domain of that UUID."""
    return engine.first(_PROJECT, ProjectRow, domain=domain_uuid, uuid=uuid)


def project_exists(engine: Engine, uuid: str) -> bool:
    """Returns whether there is a project of that UUID in any domain."""
    return bool(engine.column(_EXISTS, uuid=uuid))


def projects_of_domain(engine: Engine, domain_uuid: str, page: Page | None = None) -> list[ProjectRow]:
    """Returns all projects of a domain, or one page of them, in the order of their UUIDs."""
    if page is None:
        return engine.all(_OF_DOMAIN, ProjectRow, domain=domain_uuid)
    return engine.all(_PAGE_OF_DOMAIN, ProjectRow, domain=domain_uuid, marker=page.marker, limit=page.limit)


def projects_everywhere(engine: Engine, page: Page) -> list[ProjectRow]:
    """Returns one page of the projects of all domains, in the order of their UUIDs."""
    return engine.all(_PAGE, ProjectRow, marker=page.marker, limit=page.limit)


_BY_IDS = compiled(lambda p: _select_projects().where(any_of(Project.id, p.ids)))


def projects_by_id(engine: Engine, ids: Collection[int]) -> dict[int, ProjectRow]:
    """Returns the projects with these ids, by id."""
    return {row.id: row for row in engine.all(_BY_IDS, ProjectRow, ids=ids)} if ids else {}


_SCOPES = compiled(lambda p: Project.select(Domain.name, Project.name).join(Domain).order_by(Domain.name, Project.name))


def project_scopes(engine: Engine) -> list[str]:
    """Returns all projects as `ProjectRow.scope` names them."""
    return [f"{domain}/{name}" for domain, name in engine.tuples(_SCOPES)]


# -- rows of projects in other tables ----------------------------------------------------------------------------------

_FEW = 3


class _WithoutIndex(peewee.ColumnBase):
    """A column of integers by which PostgreSQL does not search an index."""

    def __init__(self, column: peewee.Node) -> None:
        self._column = column

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        ctx.sql(self._column)
        if ctx.state.dialect != "sqlite":
            ctx.literal(" + 0")
        return ctx


def in_projects(column: peewee.Node, p: Parameters, *, by_id: bool) -> peewee.ColumnBase:
    """Whether the column is the id of one of the projects `p.projects`, or else of any project of `p.domain`."""
    if by_id:
        return any_of(column, p.projects)
    return any_of(column, Project.select(Project.id).where(Project.domain == p.domain))


class RowsOfProjects:
    """A SELECT of a table's rows by resource and project, which is continued from what `begin` gives.

    PostgreSQL is led to look at the rows of each project: for a domain it would take many times as long, because it
    reads all rows of the resource, or descends the index for each project and resource.
    """

    def __init__(self, resource: peewee.Node, project: peewee.Node, begin: Callable[[], Select]) -> None:
        conditions: dict[str, Callable[[Parameters], Any]] = {
            "one": lambda p: resource == p.resource,  # spares PostgreSQL the sorting that a list would need
            "few": lambda p: any_of(resource, p.resources),
            "many": lambda p: any_of(_WithoutIndex(resource), p.resources),
        }

        def compile_variant(count: str, by_id: bool) -> Compiled:
            return compiled(lambda p: begin().where(conditions[count](p), in_projects(project, p, by_id=by_id)))

        self._variants = {
            (count, by_id): compile_variant(count, by_id) for count in conditions for by_id in (True, False)
        }

    def read(
        self, engine: Engine, kind: type[R], resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
    ) -> list[R]:
        """Returns the rows of these resources in these projects or, without `project_ids`, in the whole domain."""
        if not resources:
            return []
        count = "one" if len(resources) == 1 else "few" if len(resources) <= _FEW else "many"
        query = self._variants[count, project_ids is not None]
        return engine.all(
            query, kind, resource=resources[0], resources=resources, domain=domain_id, projects=project_ids
        )
