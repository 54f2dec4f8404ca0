"""Sets what a request is granted, as PUT does. To be called inside a transaction in which the request is locked."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from limes.actions.context import Limes
from limes.actions.lookup import Place
from limes.actions.quota_changes import ALL_PERMISSIONS, QuotaChange, QuotaOutcome
from limes.actions.set_autogrow_bounds import WantedBound, refuse_bounds, set_project_bounds
from limes.actions.set_quota import apply_update, read_update
from limes.core.catalog import Ref
from limes.core.hierarchy import Bounding, Refusal, RefusalKind
from limes.core.history import What
from limes.core.quota import Permissions
from limes.core.temporary_quota import Term
from limes.db.queries.autogrow import autogrow_bounds
from limes.db.queries.capacity import lock_resources
from limes.db.queries.catalog import resource_ids
from limes.db.queries.projects import DomainRow, ProjectRow
from limes.db.queries.quota_requests import AmountRow
from limes.db.queries.quotas import lock_domain_quotas

_BOUNDS = (What.MAX_QUOTA, What.MIN_QUOTA)
"""What is set where quota grows by itself."""
PermissionSource = Callable[[Ref], Permissions]
"""What the caller may do to the quota of a resource."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What whoever decides may do, in the terms of PUT."""

    quota: PermissionSource
    bounds: Collection[What] = _BOUNDS
    """Which of these they may set."""


ALL_RIGHTS = Rights(lambda _: ALL_PERMISSIONS)


def grant_to_domain(
    limes: Limes, domain: DomainRow, request_id: int, granted: Mapping[Ref, int], rights: Rights, term: Term
) -> QuotaOutcome:
    """Raises quotas of a domain for a term, or says why not."""
    return _raise_quotas(_for_request(limes, request_id), Place(domain.uuid), granted, rights, term)


def grant_to_project(
    limes: Limes,
    project: ProjectRow,
    request_id: int,
    rows: Sequence[AmountRow],
    granted: Mapping[Ref, int],
    rights: Rights,
    term: Term,
) -> QuotaOutcome:
    """Raises quotas of a project for a term, and limits of quota that grows by itself, or says why not."""
    limes, place = _for_request(limes, request_id), Place(project.domain_uuid, project.uuid)
    bounds = {row.ref: What(row.what) for row in rows if What(row.what) in _BOUNDS}
    if forbidden := {ref: _forbid(what) for ref, what in bounds.items() if what not in rights.bounds}:
        return QuotaOutcome(forbidden)
    quotas = {ref: amount for ref, amount in granted.items() if ref not in bounds}
    wanted = _wanted_bounds(limes, project, bounds, granted, quotas)
    for what, each in wanted.items():
        if refusals := refuse_bounds(limes, project, what, each):
            return QuotaOutcome(refusals)
    outcome = _raise_quotas(limes, place, quotas, rights, term)
    if not outcome.refusals:
        for what, each in wanted.items():
            set_project_bounds(limes, place, what, each)
    return outcome


def _for_request(limes: Limes, request_id: int) -> Limes:
    return limes.with_cause(f"quota request {request_id}")


def _raise_quotas(limes: Limes, place: Place, quotas: Mapping[Ref, int], rights: Rights, term: Term) -> QuotaOutcome:
    changes = [QuotaChange(ref, amount, term=term) for ref, amount in quotas.items()]
    update = read_update(limes, place, changes, {ref: rights.quota(ref) for ref in quotas})
    return apply_update(limes, place, replace(update, only_raises=True))[1]


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
        lock_domain_quotas(engine, project.domain_id, sorted(all_ids[ref] for ref in quotas))
    rows = autogrow_bounds(engine, sorted(ids.values()), project.domain_id, [project.id], lock=True)
    present = {row.resource_id: row for row in rows}
    wanted: dict[What, list[WantedBound]] = {}
    for ref, what in bounds.items():
        row = present.get(ids[ref])
        bound = None if row is None else row.value_of(what)
        if bound is None and what is What.MIN_QUOTA:
            bound = 0
        if bound is not None and bound < granted[ref]:
            wanted.setdefault(what, []).append(WantedBound(ref, granted[ref]))
    return wanted


def _forbid(what: What) -> Refusal:
    text = f"user is not allowed to raise {what.value} in this project"
    return Refusal(RefusalKind.FORBIDDEN, text, rule=Bounding.PERMISSION)
