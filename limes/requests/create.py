"""Asks for more quota of a project or domain. Rules of the configuration may approve a project's request at once. What
members of a project ask for is only proposed until an admin of the project confirms it.

Invariants: at most one open or proposed request of a project asks for a resource, and the same for what a domain asks
for itself. A rule with `every` approves a resource of a project once in that time. To keep them, a transaction locks
the row of the project or domain before it looks for such requests and earlier approvals.
"""

from collections.abc import Collection, Sequence

from limes.app.context import Limes
from limes.audit.events import What, of_job
from limes.catalog.catalog import Ref
from limes.catalog.queries import resource_ids
from limes.db.transactions import atomic
from limes.kernel.errors import Conflict, Unprocessable
from limes.kernel.units import UnitError
from limes.notifications.rules import REQUEST_PROPOSED
from limes.projects.queries import ProjectRow
from limes.projects.scope import Place, Target, find, ids_of, not_ready
from limes.quota import hierarchy, set_quota, temporary_queries
from limes.quota.changes import QuotaChange, QuotaOutcome, read_amount, without_quota
from limes.quota.queries import SetByPeople, domain_quotas_by_name, project_quotas_by_name
from limes.quota.temporary import ALWAYS, Term, check_term
from limes.requests import lists, pass_on, queries, store
from limes.requests.queries import AmountRow
from limes.requests.rules import EventKind, RequestedQuota, RequestStatus, first_match, names

_NOT_FOR_A_TIME = (
    "it follows usage and commitments by itself (quota_distribution_model is autogrow), so it cannot be"
    " granted for a time; ask for it without until"
)


_Granted = tuple[ProjectRow, QuotaOutcome]
"""What rules have approved, to be written to backends."""


class _Problem(Exception):
    """Why a resource cannot be asked for."""


def create_request(
    limes: Limes,
    place: Place,
    changes: Sequence[QuotaChange],
    reason: str,
    of_set: Collection[Ref] = (),
    term: Term = ALWAYS,
    status: RequestStatus = RequestStatus.OPEN,
) -> int:
    """Makes a request, open or `PROPOSED`, and returns its number. It replaces such ones whose resources it asks for,
    too. Of the resources `of_set` only those are asked for whose present quota is lower. Raises `NotFound`,
    `Unprocessable` with a line for each resource that cannot be asked for, `NotReady`, and `Conflict` with one that
    asks for some of the same resources and for others, or that a proposal cannot replace."""
    if not changes:
        raise Unprocessable("the request names no resource")
    if refusal := check_term(term, limes.now()):
        raise Unprocessable(refusal.message)
    id_, granted = _create(limes, place, changes, reason, of_set, term, status)
    if granted is not None:
        set_quota.push_changes(limes, *granted)
    return id_


@atomic
def _create(
    limes: Limes,
    place: Place,
    changes: Sequence[QuotaChange],
    reason: str,
    of_set: Collection[Ref],
    term: Term,
    status: RequestStatus,
) -> tuple[int, _Granted | None]:
    target = find(limes.engine, place)
    store.admit(limes, *ids_of(target))
    amounts = _read_amounts(limes, target, changes, of_set, term)
    is_proposal = status is RequestStatus.PROPOSED
    replaced = _replaced(limes, target, [row.ref for row in amounts], only_own=is_proposal)
    id_ = store.add_request(limes, target, reason, amounts, term, status=status)
    text = f"replaced by quota request {id_}"
    store.close_requests(limes, target, replaced, RequestStatus.SUPERSEDED, text)
    if isinstance(target, ProjectRow):
        store.close_passed_on(limes, target, replaced, text)
    wanted = {"/".join(row.ref): row.wanted for row in amounts}
    given = {name: int(time) for name, time in (("from", term.starts_at), ("until", term.until)) if time is not None}
    kind = EventKind.PROPOSED if is_proposal else EventKind.OPENED
    store.record_step(limes, target, [id_], kind, "", reason=reason, wanted=wanted, **given)
    if is_proposal:
        store.announce_new(limes, id_, REQUEST_PROPOSED)
        return id_, None
    granted = _approve_by_rules(limes, target, id_, amounts, term) if isinstance(target, ProjectRow) else None
    if granted is None:
        store.announce_new(limes, id_)
    return id_, granted


def confirm_request(limes: Limes, place: Place, request_id: int, comment: str) -> None:
    """Opens what a member has proposed, with all that follows for a new request. Raises `NotFound`, `Conflict` if it is
    not proposed any more, and `Unprocessable` and `NotReady` as for a new one."""
    granted = _confirm(limes, place, request_id, comment)
    if granted is not None:
        set_quota.push_changes(limes, *granted)


@atomic
def _confirm(limes: Limes, place: Place, request_id: int, comment: str) -> _Granted | None:
    engine, project = limes.engine, find(limes.engine, place)
    assert isinstance(project, ProjectRow)
    queries.lock_requester(engine, *ids_of(project))
    request = store.lock_request(limes, place, request_id, (RequestStatus.PROPOSED,)).request
    proposed = queries.amounts_of(engine, [request_id])[request_id]
    changes, term = [QuotaChange(row.ref, row.wanted) for row in proposed], request.term_at(limes.now())
    amounts = [row._replace(request_id=request_id) for row in _read_amounts(limes, project, changes, (), term)]
    queries.remove_amounts(engine, request_id)
    queries.add_amounts(engine, amounts)
    queries.open_proposed(engine, request_id)
    store.record_step(limes, project, [request_id], EventKind.CONFIRMED, comment)
    granted = _approve_by_rules(limes, project, request_id, amounts, term)
    if granted is None:
        store.announce_confirmed(limes, request_id, comment)
        store.announce_new(limes, request_id)
    return granted


def _replaced(limes: Limes, target: Target, refs: Sequence[Ref], *, only_own: bool) -> list[int]:
    """Returns the open and proposed requests whose resources are all asked for again. With `only_own`, only what the
    caller has proposed may be replaced."""
    engine, replaced, caller = limes.engine, [], limes.initiator.id
    lock_them = queries.lock_undecided_of_project if isinstance(target, ProjectRow) else queries.lock_open_of_domain
    found = {row.id: row for row in lock_them(engine, target.id)}
    for id_, rows in queries.amounts_of(engine, list(found)).items():
        asked = {row.ref for row in rows}
        common, others = asked & set(refs), asked - set(refs)
        if not common:
            continue
        text = f"quota request {id_} is {found[id_].status} and asks for {names(common)} already"
        is_own = found[id_].status == RequestStatus.PROPOSED.value and found[id_].requester_id == caller != ""
        if only_own and not is_own:
            raise Conflict(f"{text}: admins of the project can change or withdraw it")
        if others:
            raise Conflict(
                f"{text}, and for {names(others)}: withdraw it first, or ask for all of them at once, which replaces it"
            )
        replaced.append(id_)
    return replaced


def _read_amounts(
    limes: Limes, target: Target, changes: Sequence[QuotaChange], of_set: Collection[Ref], term: Term
) -> list[AmountRow]:
    engine, is_project = limes.engine, isinstance(target, ProjectRow)
    of_project = project_quotas_by_name(engine, target.id, lock=False) if is_project else {}
    of_domain = {} if is_project else domain_quotas_by_name(engine, target.id, lock=False)
    afterwards = _afterwards(limes, target)
    rows, problems, missing = [], [], []
    for change in changes:
        try:
            wanted = _amount(limes, change)
            if is_project and change.ref not in of_project:
                missing.append(change.ref)
                continue
            row = of_project[change.ref] if is_project else None
            what, present = _present(limes, change.ref, row, of_domain.get(change.ref, 0))
            if what is not What.QUOTA and term != ALWAYS:
                raise _Problem(_NOT_FOR_A_TIME)
            present = afterwards.get(change.ref, present)
            if wanted <= present and change.ref in of_set:
                continue
            if wanted <= present:
                shown = limes.catalog.unit_of(change.ref).render
                text = f"{shown(wanted)} is not more than it has now, which is {shown(present)}"
                raise _Problem(f"{text}; lowering needs no request: set the quota")
        except _Problem as problem:
            problems.append(f"cannot ask for {'/'.join(change.ref)} quota: {problem}")
            continue
        rows.append(AmountRow(0, *change.ref, what.value, present, wanted, None))
    if problems:
        raise Unprocessable("\n".join(sorted(problems)))
    if missing:
        raise not_ready(engine, target.id, missing)
    if not rows:
        raise Unprocessable("there is at least as much of everything already: there is nothing to ask for")
    return rows


def _afterwards(limes: Limes, target: Target) -> dict[Ref, int]:
    """Returns the quotas after temporary ones have ended: a request is about these."""
    found = temporary_queries.temporary_quotas(limes.engine, *ids_of(target))
    refs = {id_: ref for ref, id_ in resource_ids(limes.engine).items()} if found else {}
    return {refs[id_]: row.before for id_, row in found.items() if row.before is not None}


def _amount(limes: Limes, change: QuotaChange) -> int:
    if refusal := without_quota(limes.catalog, change.ref):
        raise _Problem(refusal.message)
    try:
        return read_amount(limes.catalog, change.ref, change.amount, change.unit)
    except UnitError as error:
        raise _Problem(str(error)) from None


def _present(limes: Limes, ref: Ref, row: SetByPeople | None, of_domain: int) -> tuple[What, int]:
    """Returns the wanted and the present quota; `row` is a project's."""
    grows = limes.catalog.autogrow(ref) is not None
    if row is None and grows:
        raise _Problem(hierarchy.DOMAIN_QUOTA_GROWS.message)
    if row is None or not grows:
        return What.QUOTA, of_domain if row is None else row.quota or 0
    return (What.MIN_QUOTA, row.quota or 0) if row.max_quota is None else (What.MAX_QUOTA, row.max_quota)


def _approve_by_rules(
    limes: Limes, project: ProjectRow, request_id: int, rows: Sequence[AmountRow], term: Term
) -> _Granted | None:
    """Returns what was changed; None if the request stays open."""
    found = _matching_rules(limes, project, rows)
    if found is None:
        return None
    limes = limes.as_initiator(of_job("auto-approval")).with_cause(f"quota request {request_id}")
    said = ", ".join(f"{'/'.join(ref)} by rule {found[ref]}" for ref in sorted(found))
    granted = {row.ref: row.wanted for row in rows}
    outcome = pass_on.grant_to_project(limes, project, rows, granted, pass_on.ALL_RIGHTS, term)
    if outcome.refusals:
        text = f"would be approved ({said}), but {outcome.reasons}"
        store.record_step(limes, project, [request_id], EventKind.COMMENT, text)
        return None
    queries.write_granted(limes.engine, request_id, granted)
    queries.write_rules(limes.engine, request_id, found)
    named = {"/".join(ref): name for ref, name in found.items()}
    store.close_requests(limes, project, [request_id], RequestStatus.APPROVED, f"approved {said}", rules=named)
    return project, outcome


def _matching_rules(limes: Limes, project: ProjectRow, rows: Sequence[AmountRow]) -> dict[Ref, str] | None:
    """Returns the names of the rules that approve it; None if they do not approve all of it."""
    if not limes.auto_approval or any(row.what == What.MIN_QUOTA.value for row in rows):
        return None  # only people with the right `project:grant_quota` grant what grows by itself
    all_ids = resource_ids(limes.engine)
    figures, _ = set_quota.project_figures(limes, project, {row.ref: all_ids[row.ref] for row in rows})
    approved_at = lists.approvals_by_rules(limes.engine, project.id)
    found: dict[Ref, str] = {}
    for row in rows:
        usage, approvals = figures[row.ref].usage, approved_at.get(row.ref, {})
        wish = RequestedQuota(
            row.ref, limes.catalog.unit_of(row.ref), project.scope, row.present, row.wanted, usage, approvals
        )
        rule = first_match(limes.auto_approval, wish, limes.now())
        if rule is None:
            return None
        found[row.ref] = rule.name
    return found
