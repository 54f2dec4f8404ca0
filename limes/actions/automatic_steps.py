"""What Limes does to quotas by itself, as steps of their history: first scrapes, constraints, vanished projects."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from limes.actions.project_tasks import HasQuota
from limes.actions.scopes import scope_of_task
from limes.actions.trail import Trail
from limes.audit.cadf import Scope
from limes.core.catalog import Catalog, Ref
from limes.core.constraints import Constraint, ConstraintSet
from limes.core.history import QuotaStep, Reason, What
from limes.core.units import Unit
from limes.db.queries import discovery as queries
from limes.db.queries.tasks import ProjectTask


def constrained(catalog: Catalog, ref: Ref, old: int | None, new: int, constraint: Constraint) -> QuotaStep:
    """A quota is as its constraint demands now."""
    unit = unit_of(catalog, ref)
    return QuotaStep(ref, unit, old, new, Reason.CONSTRAINT, constraint.render(unit))


def scraped(
    catalog: Catalog, ref: Ref, old: int | None, new: int | None, constraint: Constraint | None
) -> QuotaStep | None:
    """What a scrape has made of a quota, if that is news. A quota that begins with 0 is none."""
    if new is None or new == (old or 0):
        return None
    resource = catalog.find(ref)
    if old is None and resource is not None and resource.auto_approve_initial_quota == new:
        return QuotaStep(ref, resource.unit, old, new, Reason.AUTO_APPROVAL)
    assert constraint is not None  # nothing else changes a quota in a scrape
    return constrained(catalog, ref, old, new, constraint)


def write_scrape(
    trail: Trail,
    catalog: Catalog,
    constraints: ConstraintSet,
    task: ProjectTask,
    before: Mapping[str, HasQuota],
    after: Mapping[str, HasQuota],
) -> None:
    """Writes down what a scrape has made of a project's quotas, by name."""
    steps = []
    for name, row in after.items():
        ref = (task.service_type, name)
        constraint = constraints.for_project(ref, task.domain_name, task.project_name)
        old = before[name].quota if name in before else None
        if step := scraped(catalog, ref, old, row.quota, constraint):
            steps.append(step)
    trail.quotas(scope_of_task(task), steps)


def write_repair(
    trail: Trail, catalog: Catalog, task: ProjectTask, found: Mapping[str, tuple[int | None, int | None]]
) -> None:
    """Writes down that a backend is told its quotas again, after somebody else has changed them: what it enforces, and
    what it is to enforce, by name (both in the stored form of `limes.core.quota`)."""
    steps = [repaired(catalog, (task.service_type, name), old, new) for name, (old, new) in found.items()]
    trail.quotas(scope_of_task(task), steps)


def repaired(catalog: Catalog, ref: Ref, old: int | None, new: int | None) -> QuotaStep:
    """A backend that enforces `old` is told `new` again."""
    detail = "the backend was changed by somebody else"
    return QuotaStep(ref, unit_of(catalog, ref), old, new, Reason.BACKEND_DRIFT, detail, What.BACKEND_QUOTA)


def write_off(trail: Trail, catalog: Catalog, *, projects: Collection[str] = (), domains: Collection[str] = ()) -> None:
    """Writes down that these, by UUID, are about to be deleted with their quotas."""
    by_scope: dict[Scope, list[QuotaStep]] = defaultdict(list)
    for row in queries.quotas_of_vanished(trail.engine, projects, domains):
        scope = Scope(row.domain_uuid, row.domain_name, row.project_uuid, row.project_name)
        ref = (row.service_type, row.resource_name)
        by_scope[scope].append(QuotaStep(ref, unit_of(catalog, ref), row.quota, None, Reason.VANISHED))
    for scope, steps in by_scope.items():
        trail.quotas(scope, steps)


def unit_of(catalog: Catalog, ref: Ref) -> Unit:
    """The resource's unit; that of counted ones for a resource that is not configured any more."""
    resource = catalog.find(ref)
    return resource.unit if resource else Unit.COUNT
