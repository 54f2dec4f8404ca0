"""Passes a project's request on: the domain asks the cloud admins for the quota that is missing for it. Once the domain
has got that, the project's request is approved, too.

Only quota is granted with it. Who decides on the domain's request does not see what the project's asks for of quota
that grows by itself, and may have no right to grant it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from limes.actions.context import Limes
from limes.actions.lookup import Place, find_domain
from limes.actions.quota_changes import QuotaOutcome
from limes.actions.quota_requests.announce import announce_opened
from limes.actions.quota_requests.grant import ALL_RIGHTS, PermissionSource, grant_to_project
from limes.actions.quota_requests.store import admit, close_requests, lock_request, project_of, record_step, store
from limes.core.catalog import Ref
from limes.core.history import What
from limes.core.quota_requests import EventKind, missing_domain_quota, names, status_after
from limes.core.temporary_quota import Term
from limes.db.engine import Engine
from limes.db.queries import quota_requests as queries
from limes.db.queries.capacity import lock_resources
from limes.db.queries.catalog import resource_ids
from limes.db.queries.projects import ProjectRow
from limes.db.queries.quota_requests import AmountRow, LockedRequest
from limes.db.queries.quotas import (
    domain_quotas_by_resource,
    lock_domain_quotas,
    project_quota_sums,
    project_quotas_by_name,
)
from limes.db.transactions import atomic
from limes.errors import Conflict, Forbidden


@dataclass(frozen=True, slots=True)
class _Hierarchy:
    """The quotas around a project, by resource."""

    domain: Mapping[Ref, int]
    others: Mapping[Ref, int]
    """Of all other projects in the domain together."""


def _read_hierarchy(engine: Engine, project: ProjectRow, ids: Mapping[Ref, int]) -> _Hierarchy:
    resources = sorted(ids.values())
    sums = project_quota_sums(engine, project.domain_id, resources)
    domain = domain_quotas_by_resource(engine, resources, [project.domain_id])
    rows = project_quotas_by_name(engine, project.id, lock=False)
    own = {ref: (rows[ref].quota or 0) if ref in rows else 0 for ref in ids}
    return _Hierarchy(
        domain={ref: domain.get((project.domain_id, id_), 0) for ref, id_ in ids.items()},
        others={ref: sums.get(id_, 0) - own[ref] for ref, id_ in ids.items()},
    )


@atomic
def pass_on_request(limes: Limes, place: Place, request_id: int, comment: str, permissions: PermissionSource) -> int:
    """Makes a request of the domain and returns its number. Its approval will approve the project's, too.

    Raises `NotFound`, `Forbidden`, and `Conflict` if the project's is not open, has been passed on, or fits.
    """
    engine, domain = limes.engine, find_domain(limes.engine, place.domain_uuid)
    admit(limes, domain.id, None)
    locked = lock_request(limes, place, request_id)
    project, origin = locked.target, locked.request
    assert isinstance(project, ProjectRow)
    for above in queries.lock_passed_on(engine, [origin.id]):
        raise Conflict(f"quota request {origin.id} has been passed on already, as quota request {above.id}")
    rows = _missing(engine, project, origin.id, permissions)
    reason = comment or f"for quota request {origin.id} of project {project.name}"
    id_ = store(limes, domain, reason, rows, Term(origin.until), origin.id)
    wanted = {"/".join(row.ref): row.wanted for row in rows}
    record_step(limes, project, [origin.id], EventKind.PASSED_ON, comment, passed_on_to=id_)
    details = {"reason": reason, "wanted": wanted, "passed_on_from": origin.id}
    record_step(limes, domain, [id_], EventKind.OPENED, "", **details)
    announce_opened(limes, id_)
    return id_


def _missing(engine: Engine, project: ProjectRow, request_id: int, permissions: PermissionSource) -> list[AmountRow]:
    rows = queries.amounts_of(engine, [request_id])[request_id]
    wanted = {row.ref: row.wanted for row in rows if row.what == What.QUOTA.value}
    if not wanted:
        raise Conflict(
            f"quota request {request_id} asks for quota that grows by itself, which comes from no domain: cloud"
            " admins can approve it where it is"
        )
    # whoever passes it on agrees to it: the approval above is the last one
    if not all(permissions(ref).can_raise for ref in wanted):
        raise Forbidden("Forbidden")
    all_ids = resource_ids(engine)
    around = _read_hierarchy(engine, project, {ref: all_ids[ref] for ref in wanted})
    missing = missing_domain_quota(wanted, around.domain, around.others)
    if not missing:
        raise Conflict(f"quota request {request_id} fits into the domain's quota: it can be approved")
    return [
        AmountRow(0, *ref, What.QUOTA.value, around.domain[ref], amount, None)
        for ref, amount in sorted(missing.items())
    ]


# -- once it is approved -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Origin:
    """The project's request that a domain's was made for. It is open, and both are locked."""

    request: LockedRequest
    project: ProjectRow
    rows: list[AmountRow]
    ids: Mapping[Ref, int]
    """Of the resources of which it asks for quota."""


def read_origin(limes: Limes, request: LockedRequest) -> Origin:
    """Returns what is to be known of the project's request."""
    project = project_of(limes, request)
    rows = queries.amounts_of(limes.engine, [request.id])[request.id]
    all_ids = resource_ids(limes.engine)
    ids = {row.ref: all_ids[row.ref] for row in rows if row.what == What.QUOTA.value}
    return Origin(request, project, rows, ids)


def needed_now(limes: Limes, origin: Origin, asked_for: Mapping[Ref, int]) -> dict[Ref, int]:
    """Locks the quotas, and returns the domain quotas that the project's request needs by now, of those that the
    domain's asks for.

    Others may have got some of the quota since it was passed on, or may have given some back.
    """
    engine, project = limes.engine, origin.project
    lock_resources(engine, sorted(origin.ids[ref] for ref in asked_for))
    lock_domain_quotas(engine, project.domain_id, sorted(origin.ids.values()))
    around = _read_hierarchy(engine, project, origin.ids)
    wanted = {row.ref: row.wanted for row in origin.rows}
    return {ref: around.others[ref] + wanted[ref] for ref in asked_for}


def release(limes: Limes, origin: Origin, above: int, comment: str) -> tuple[ProjectRow, QuotaOutcome] | None:
    """Approves as much of the project's request as fits by now, and returns what was changed. `above` is the number of
    the domain's request.

    If nothing of it fits, it stays open, and its conversation says why.
    """
    project, id_, rows = origin.project, origin.request.id, origin.rows
    around = _read_hierarchy(limes.engine, project, origin.ids)
    fitting = {ref: max(0, around.domain[ref] - around.others[ref]) for ref in origin.ids}
    granted = {row.ref: min(row.wanted, fitting.get(row.ref, row.present)) for row in rows}
    outcome, problem = QuotaOutcome(), "the domain's quota is still not enough"
    if any(granted[row.ref] > row.present for row in rows):
        quotas, term = {ref: granted[ref] for ref in origin.ids}, origin.request.term_at(limes.now())
        outcome = grant_to_project(limes, project, id_, (), quotas, ALL_RIGHTS, term)
        problem = outcome.reasons
    if problem:
        text = f"quota request {above} was approved, but {problem}"
        record_step(limes, project, [id_], EventKind.RETURNED, text)
        return None
    queries.write_granted(limes.engine, id_, granted)
    named = {"/".join(ref): amount for ref, amount in granted.items()}
    text = f"quota request {above} was approved" + (f": {comment}" if comment else "")
    if rest := names(set(granted) - set(origin.ids)):
        text += f"; {rest} grows by itself and was not granted with it: ask for it by itself"
    status = status_after({row.ref: row.wanted for row in rows}, granted)
    close_requests(limes, project, [id_], status, text, granted=named)
    return project, outcome
