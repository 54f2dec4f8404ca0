"""What projects have said about how far their quota may grow by itself."""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from limes.core.history import What
from limes.db.compiled import CompiledForRows, any_of, compiled_update
from limes.db.compiled import lock as lock_rows
from limes.db.engine import Engine
from limes.db.models import Project, ProjectResource
from limes.db.query import Node, rows, writes_for


class AutogrowBoundsRow(NamedTuple):
    """The bounds of one project and resource."""

    project_id: int
    resource_id: int
    max_quota: int | None
    min_quota: int | None
    forbids_autogrowth: bool

    def value_of(self, what: What) -> int | None:
        """Returns one of the bounds, as the history has it."""
        if what is What.FORBID_AUTOGROWTH:
            return int(self.forbids_autogrowth)
        return self.min_quota if what is What.MIN_QUOTA else self.max_quota


@rows(AutogrowBoundsRow)
def autogrow_bounds(resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None, *, lock: bool) -> Node:
    """The bounds of these projects, or of all projects of a domain. What was never scraped is missing.

    With `lock`, nobody else changes them until the transaction ends. The resources are to be locked before.
    """
    row = ProjectResource
    among = Project.select(Project.id).where(Project.domain == domain_id) if project_ids is None else project_ids
    query = (
        row.select(*[getattr(row, name) for name in AutogrowBoundsRow._fields])
        .where(any_of(row.resource, resources), any_of(row.project, among))
        .order_by(row.resource, row.project)
    )
    return lock_rows(query) if lock else query


_Amount = Literal["max_quota", "min_quota"]
_AMOUNTS: dict[What, _Amount] = {What.MAX_QUOTA: "max_quota", What.MIN_QUOTA: "min_quota"}


def _compile_update(name: str) -> CompiledForRows:
    row = ProjectResource
    return compiled_update(row.resource, getattr(row, name), lambda p: any_of(row.project, p.projects))


_SET_AMOUNT = {name: _compile_update(name) for name in _AMOUNTS.values()}
_SET_FORBIDDEN = _compile_update("forbids_autogrowth")


@writes_for("resources")
def _drop(resources: Collection[int], project_ids: Collection[int], amount: _Amount) -> Node:
    row = ProjectResource
    return row.update({amount: None}).where(any_of(row.resource, resources), any_of(row.project, project_ids))


def write_autogrow_bounds(
    engine: Engine, project_ids: Collection[int], what: What, values: Sequence[tuple[int, int | None]]
) -> None:
    """Sets one of the bounds of all these projects, given as (resource id, value), in at most two statements."""
    if what is What.FORBID_AUTOGROWTH:
        engine.write(_SET_FORBIDDEN, rows=[(id_, bool(value)) for id_, value in values], projects=project_ids)
        return
    amounts = [(id_, value) for id_, value in values if value is not None]
    if amounts:
        engine.write(_SET_AMOUNT[_AMOUNTS[what]], rows=amounts, projects=project_ids)
    _drop(engine, [id_ for id_, value in values if value is None], project_ids, _AMOUNTS[what])
