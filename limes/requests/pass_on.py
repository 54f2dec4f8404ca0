"""What a request is granted, and what becomes of requests that were passed on.

A project's request is passed on: the domain asks the cloud admins for the quota that is missing for it. Once the domain
has got that, the project's request is approved, too. Only quota is granted with it. Who decides on the domain's request
does not see what the project's asks for of quota that grows by itself, and may have no right to grant it. What was
passed on belongs to the domain: it stays when the project is deleted whose request it was made for.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec import Struct, structs

from limes.app.context import Limes
from limes.audit.events import Scope, What
from limes.autogrow.queries import autogrow_bounds
from limes.autogrow.set_bounds import WantedBound, refuse_bounds, set_project_bounds
from limes.catalog.catalog import Ref
from limes.catalog.queries import lock_resources, resource_ids
from limes.db.engine import Engine
from limes.db.transactions import atomic
from limes.kernel.errors import Conflict, Forbidden
from limes.projects.queries import ProjectRow, projects_by_id
from limes.projects.scope import Place, Target, find_domain
from limes.quota import change_log, decision_queries, hierarchy, rules, set_quota, temporary
from limes.quota import queries as quota_queries
from limes.quota.changes import ALL_PERMISSIONS, QuotaChange, QuotaOutcome
from limes.requests import queries, store
from limes.requests.queries import AmountRow, EventRow, LockedRequest
from limes.requests.rules import EventKind, RequestStatus, missing_domain_quota, names, status_after

_BOUNDS = (What.MAX_QUOTA, What.MIN_QUOTA)
"""What is set where quota grows by itself."""
PermissionSource = Callable[[Ref], rules.Permissions]
"""What the caller may do to the quota of a resource."""


class Rights(Struct, frozen=True):
    """What the user who decides may do, in the terms of PUT."""

    quota: PermissionSource
    bounds: Collection[What] = _BOUNDS
    """Which of these they may set."""


ALL_RIGHTS = Rights(lambda _: ALL_PERMISSIONS)


def grant_to_project(
    limes: Limes,
    project: ProjectRow,
    rows: Sequence[AmountRow],
    granted: Mapping[Ref, int],
    rights: Rights,
    term: temporary.Term,
) -> QuotaOutcome:
    """Raises quotas of a project for a term, and limits of quota that grows by itself, or says why not."""
    place = Place(project.domain_uuid, project.uuid)
    bounds = {row.ref: What(row.what) for row in rows if What(row.what) in _BOUNDS}
    forbidden = {ref: what for ref, what in bounds.items() if what not in rights.bounds}
    if forbidden:
        text = "user is not allowed to raise {} in this project".format
        return QuotaOutcome({ref: hierarchy.forbidden(text(what.value)) for ref, what in forbidden.items()})
    quotas = {ref: amount for ref, amount in granted.items() if ref not in bounds}
    wanted = _wanted_bounds(limes, project, bounds, granted, quotas)
    for what, each in wanted.items():
        if refusals := refuse_bounds(limes, project, what, each):
            return QuotaOutcome(refusals)
    outcome = raise_quotas(limes, project, quotas, rights, term)
    if not outcome.refusals:
        for what, each in wanted.items():
            set_project_bounds(limes, place, what, each)
    return outcome


def raise_quotas(
    limes: Limes, target: Target, quotas: Mapping[Ref, int], rights: Rights, term: temporary.Term
) -> QuotaOutcome:
    """Raises quotas for a term, or says why not."""
    changes = [QuotaChange(ref, amount, term=term) for ref, amount in quotas.items()]
    update = set_quota.read_update(limes, target, changes, {ref: rights.quota(ref) for ref in quotas})
    return set_quota.apply_update(limes, target, structs.replace(update, only_raises=True))


def _wanted_bounds(
    limes: Limes, project: ProjectRow, bounds: Mapping[Ref, What], granted: Mapping[Ref, int], quotas: Collection[Ref]
) -> dict[What, list[WantedBound]]:
    """Locks and returns the bounds to raise, without limits that were raised or lifted meanwhile, and without grants
    that are as large already. The domain's rows of `quotas` are locked before, in the order of all."""
    if not bounds:
        return {}
    engine, all_ids = limes.engine, resource_ids(limes.engine)
    ids = {ref: all_ids[ref] for ref in bounds}
    lock_resources(engine, sorted(ids.values()))
    if quotas:
        quota_queries.lock_domain_quotas(engine, project.domain_id, sorted(all_ids[ref] for ref in quotas))
    rows = autogrow_bounds(engine, sorted(ids.values()), project.domain_id, [project.id], lock=True)
    wanted: dict[What, list[WantedBound]] = {}
    for ref, what in bounds.items():
        row = rows.get((project.id, ids[ref]))
        bound = None if row is None else row.value_of(what)
        if bound is None and what is What.MIN_QUOTA:
            bound = 0
        if bound is not None and bound < granted[ref]:
            wanted.setdefault(what, []).append(WantedBound(ref, granted[ref]))
    return wanted


def _quotas_around(
    engine: Engine, project: ProjectRow, ids: Mapping[Ref, int]
) -> tuple[dict[Ref, int], dict[Ref, int]]:
    """Returns the quotas of the domain, and those of all other projects in it together."""
    resources = sorted(ids.values())
    sums = decision_queries.project_quota_sums(engine, project.domain_id, resources)
    domain = quota_queries.domain_quotas_by_resource(engine, resources, [project.domain_id])
    rows = quota_queries.project_quotas_by_name(engine, project.id, lock=False)
    own = {ref: (rows[ref].quota or 0) if ref in rows else 0 for ref in ids}
    of_domain = {ref: domain.get((project.domain_id, id_), 0) for ref, id_ in ids.items()}
    return of_domain, {ref: sums.get(id_, 0) - own[ref] for ref, id_ in ids.items()}


@atomic
def pass_on_request(limes: Limes, place: Place, request_id: int, comment: str, permissions: PermissionSource) -> int:
    """Makes a request of the domain and returns its number. Its approval will approve the project's, too. Raises
    `NotFound`, `Forbidden`, and `Conflict` if the project's is not open, has been passed on, or fits."""
    engine, domain = limes.engine, find_domain(limes.engine, place.domain_uuid)
    store.admit(limes, domain.id, None)
    locked = store.lock_request(limes, place, request_id)
    project, origin = locked.target, locked.request
    assert isinstance(project, ProjectRow)
    for above in queries.lock_passed_on(engine, [origin.id]):
        raise Conflict(f"quota request {origin.id} has been passed on already, as quota request {above.id}")
    rows = _missing(engine, project, origin.id, permissions)
    reason = comment or f"for quota request {origin.id} of project {project.name}"
    id_ = store.add_request(limes, domain, reason, rows, temporary.Term(origin.until), origin.id)
    wanted = {"/".join(row.ref): row.wanted for row in rows}
    store.record_step(limes, project, [origin.id], EventKind.PASSED_ON, comment, passed_on_to=id_)
    details = {"reason": reason, "wanted": wanted, "passed_on_from": origin.id}
    store.record_step(limes, domain, [id_], EventKind.OPENED, "", **details)
    store.announce_new(limes, id_)
    return id_


def _missing(engine: Engine, project: ProjectRow, request_id: int, permissions: PermissionSource) -> list[AmountRow]:
    rows = queries.amounts_of(engine, [request_id])[request_id]
    wanted = {row.ref: row.wanted for row in rows if row.what == What.QUOTA.value}
    if not wanted:
        text = f"quota request {request_id} asks for quota that grows by itself, which comes from no domain"
        raise Conflict(f"{text}: cloud admins can approve it where it is")
    # passing it on means to agree: the approval above is the last one
    if not all(permissions(ref).can_raise for ref in wanted):
        raise Forbidden("Forbidden: who passes a request on has to have the right to raise the project's quotas")
    all_ids = resource_ids(engine)
    domain, others = _quotas_around(engine, project, {ref: all_ids[ref] for ref in wanted})
    missing = missing_domain_quota(wanted, domain, others)
    if not missing:
        raise Conflict(f"quota request {request_id} fits into the domain's quota: it can be approved")
    return [AmountRow(0, *ref, What.QUOTA.value, domain[ref], missing[ref], None) for ref in sorted(missing)]


# -- once it is approved -----------------------------------------------------------------------------------------------


class Origin(Struct, frozen=True):
    """The project's request that a domain's was made for. It is open, and both are locked."""

    request: LockedRequest
    project: ProjectRow
    rows: list[AmountRow]
    ids: Mapping[Ref, int]
    """Of the resources for which it asks for quota."""


def read_origin(limes: Limes, request: LockedRequest) -> Origin:
    project = store.project_of(limes, request)
    rows = queries.amounts_of(limes.engine, [request.id])[request.id]
    all_ids = resource_ids(limes.engine)
    ids = {row.ref: all_ids[row.ref] for row in rows if row.what == What.QUOTA.value}
    return Origin(request, project, rows, ids)


def needed_now(limes: Limes, origin: Origin, asked_for: Mapping[Ref, int]) -> dict[Ref, int]:
    """Locks the quotas, and returns the domain quotas that the project's request needs by now, of those that the
    domain's asks for. Others may have got some of the quota since it was passed on, or may have given some back."""
    engine, project = limes.engine, origin.project
    lock_resources(engine, sorted(origin.ids[ref] for ref in asked_for))
    quota_queries.lock_domain_quotas(engine, project.domain_id, sorted(origin.ids.values()))
    _, others = _quotas_around(engine, project, origin.ids)
    return {row.ref: others[row.ref] + row.wanted for row in origin.rows if row.ref in asked_for}


def release(limes: Limes, origin: Origin, above: int, comment: str) -> tuple[ProjectRow, QuotaOutcome] | None:
    """Approves as much of the project's request as fits by now, and returns what was changed. `above` is the number of
    the domain's request. If nothing of it fits, it stays open, and its conversation says why."""
    project, id_, rows = origin.project, origin.request.id, origin.rows
    domain, others = _quotas_around(limes.engine, project, origin.ids)
    fitting = {ref: max(0, domain[ref] - others[ref]) for ref in origin.ids}
    granted = {row.ref: min(row.wanted, fitting.get(row.ref, row.present)) for row in rows}
    outcome, problem = QuotaOutcome(), "the domain's quota is still not enough"
    if any(granted[row.ref] > row.present for row in rows):
        quotas, term = {ref: granted[ref] for ref in origin.ids}, origin.request.term_at(limes.now())
        caused = limes.with_cause(f"quota request {id_}")
        outcome = grant_to_project(caused, project, (), quotas, ALL_RIGHTS, term)
        problem = outcome.reasons
    if problem:
        text = f"quota request {above} was approved, but {problem}"
        store.record_step(limes, project, [id_], EventKind.RETURNED, text)
        return None
    queries.write_granted(limes.engine, id_, granted)
    named = {"/".join(ref): amount for ref, amount in granted.items()}
    text = f"quota request {above} was approved" + (f": {comment}" if comment else "")
    if rest := names(set(granted) - set(origin.ids)):
        text += f"; {rest} grows by itself and was not granted with it: ask for it by itself"
    status = status_after({row.ref: row.wanted for row in rows}, granted)
    store.close_requests(limes, project, [id_], status, text, granted=named)
    return project, outcome


def outlive_projects(limes: Limes, uuids: Collection[str]) -> None:
    """Lets requests of domains go on without these projects, which are locked and about to be deleted. An open one has
    nothing to wait for. The projects' own are locked first, so that they are not passed on meanwhile."""
    if not uuids:
        return
    engine, now = limes.engine, limes.now()
    below = {row.id: row for row in queries.lock_open_of_projects(engine, uuids)}
    above = queries.lock_passed_on(engine, list(below))
    if above:
        queries.close(engine, [row.id for row in above], RequestStatus.SUPERSEDED, now)
    projects = projects_by_id(engine, {row.project_id for row in below.values() if row.project_id is not None})
    for row in above:
        project = projects[below[row.passed_on_from or 0].project_id or 0]
        text, author, kind = f"project {project.name} was deleted", limes.initiator, EventKind.SUPERSEDED.value
        queries.add_events(engine, [EventRow(row.id, now, kind, text, author.id, author.name)])
        domain = Scope(project.domain_uuid, project.domain_name)
        change_log.record_quota_request(limes, domain, row.id, kind, {})
    queries.forget_origins(engine, uuids)
