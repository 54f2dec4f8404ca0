"""Decides on requests, and closes the ones that nobody can or will decide on: their time has passed, or they have been
open for very long.

Invariant: an approval sets the quotas and closes the request in one transaction, by the same code as PUT; if a quota is
refused, the request stays as it is. Quotas that have become higher meanwhile stay: an approval never lowers anything.
"""

import logging
from collections.abc import Sequence

from msgspec import structs

from limes.app.context import Limes
from limes.catalog.catalog import Ref
from limes.db.transactions import atomic
from limes.kernel.calendar import render_minute
from limes.kernel.errors import Forbidden, LimesError, NotFound, Unprocessable
from limes.kernel.units import UnitError
from limes.projects.queries import ProjectRow
from limes.projects.scope import Place
from limes.quota import set_quota
from limes.quota.changes import QuotaChange, QuotaOutcome, read_amount
from limes.requests import lists, pass_on, queries, store
from limes.requests.pass_on import Rights
from limes.requests.rules import UNDECIDED, EventKind, RequestStatus, names, status_after
from limes.requests.store import HeldRequest, close_passed_on, close_requests, lock_request, record_step

log = logging.getLogger(__name__)

_WORDS = {
    RequestStatus.REJECTED: "was rejected",
    RequestStatus.WITHDRAWN: "was withdrawn",
    RequestStatus.EXPIRED: "has expired",
}


@atomic
def reject_request(
    limes: Limes, place: Place, request_id: int, reason: str, states: Sequence[RequestStatus] = UNDECIDED
) -> None:
    """Refuses the request, if it is in one of the `states` in which the caller may do that. What was passed on goes
    back to those who did. Raises `NotFound`, `Forbidden` and `Conflict`."""
    locked = lock_request(limes, place, request_id, UNDECIDED)
    if locked.request.status not in states:
        who = "admins of the project" if locked.request.status == RequestStatus.PROPOSED.value else "who decides on it"
        raise Forbidden(f"quota request {request_id} is {locked.request.status}: only {who} may reject it")
    _close(limes, locked, RequestStatus.REJECTED, reason)


@atomic
def withdraw_request(limes: Limes, place: Place, request_id: int, comment: str, *, only_own: bool = False) -> None:
    """Takes the request back; with `only_own`, what the caller has proposed, and nobody has confirmed. Raises
    `NotFound`, `Forbidden`, and `Conflict` if it is too late."""
    locked = lock_request(limes, place, request_id, (RequestStatus.PROPOSED,) if only_own else UNDECIDED)
    if only_own:
        store.refuse_others(limes, locked)
    _close(limes, locked, RequestStatus.WITHDRAWN, comment)


def _close(limes: Limes, locked: HeldRequest, status: RequestStatus, text: str) -> None:
    """Closes a request without giving anything. What it was passed on as is closed, too; the project's request that it
    was passed on from learns of it."""
    id_ = locked.request.id
    close_requests(limes, locked.target, [id_], status, text)
    said = f"quota request {id_} {_WORDS[status]}"
    if isinstance(locked.target, ProjectRow):
        close_passed_on(limes, locked.target, [id_], said)
    elif origin := locked.origin:
        note = f"{said}: {text}" if text else said
        record_step(limes, store.project_of(limes, origin), [origin.id], EventKind.RETURNED, note)


def approve_request(
    limes: Limes, place: Place, request_id: int, lowered: Sequence[QuotaChange], comment: str, rights: Rights
) -> QuotaOutcome:
    """Sets what was asked for, with the amounts in `lowered` instead. Or says why not, and what would work. Raises
    `NotFound`, `Conflict` if the request is not open any more, and `Unprocessable` for amounts that were not asked
    for."""
    outcome, granted = _approve(limes, place, request_id, lowered, comment, rights)
    errors = () if granted is None else set_quota.push_changes(limes, *granted).backend_errors
    return structs.replace(outcome, backend_errors=errors)


@atomic
def _approve(
    limes: Limes, place: Place, request_id: int, lowered: Sequence[QuotaChange], comment: str, rights: Rights
) -> tuple[QuotaOutcome, tuple[ProjectRow, QuotaOutcome] | None]:
    """Returns the outcome, and the changes by project."""
    limes, locked = limes.with_cause(f"quota request {request_id}"), lock_request(limes, place, request_id)
    target, term, origin = locked.target, locked.request.term_at(limes.now()), None
    rows = queries.amounts_of(limes.engine, [request_id])[request_id]
    wanted, amounts = {row.ref: row.wanted for row in rows}, _read_lowered(limes, rows, lowered)
    if isinstance(target, ProjectRow):
        granted = wanted | amounts
        outcome = pass_on.grant_to_project(limes, target, rows, granted, rights, term)
    else:
        if locked.origin is not None:
            origin = pass_on.read_origin(limes, locked.origin)
            wanted = pass_on.needed_now(limes, origin, wanted)
        granted = wanted | amounts
        outcome = pass_on.raise_quotas(limes, target, granted, rights, term)
    if outcome.refusals:
        return outcome, None
    queries.write_granted(limes.engine, request_id, granted)
    named = {"/".join(ref): amount for ref, amount in granted.items()}
    close_requests(limes, target, [request_id], status_after(wanted, granted), comment, granted=named)
    if isinstance(target, ProjectRow):
        close_passed_on(limes, target, [request_id], f"quota request {request_id} was decided in the domain")
        return outcome, (target, outcome)
    return outcome, None if origin is None else pass_on.release(limes, origin, request_id, comment)


def _read_lowered(limes: Limes, rows: Sequence[queries.AmountRow], lowered: Sequence[QuotaChange]) -> dict[Ref, int]:
    """Returns the amounts to grant instead of the requested ones."""
    asked = {row.ref: row for row in rows}
    amounts: dict[Ref, int] = {}
    problems = []
    for change in lowered:
        row, name = asked.get(change.ref), "/".join(change.ref)
        if row is None:
            problems.append(f"cannot grant {name} quota: the request asks for {names(asked)} only")
            continue
        try:
            amount = read_amount(limes.catalog, change.ref, change.amount, change.unit)
        except UnitError as error:
            problems.append(f"cannot grant {name} quota: {error}")
            continue
        if amount > row.wanted:
            shown = limes.catalog.unit_of(change.ref).render
            text = f"{shown(amount)} is more than was asked for, which is {shown(row.wanted)}"
            problems.append(f"cannot grant {name} quota: {text}")
        amounts[change.ref] = amount
    if not problems and all(amounts.get(row.ref, row.wanted) <= row.present for row in rows):
        problems.append("nothing would be granted: to refuse a request, reject it with a reason")
    if problems:
        raise Unprocessable("\n".join(sorted(problems)))
    return amounts


def expire_requests(limes: Limes) -> int:
    """Closes what has expired, each in a transaction of its own. Returns how many there were. As all decisions, it
    locks the request and looks at its state under the lock. So it may run in several collectors at once, and while
    users decide."""
    now, expire_after = limes.now(), limes.settings.quota_requests.expire_after
    made_before = now - expire_after if expire_after else -1.0
    closed = 0
    for row in limes.engine.snapshot(lambda: lists.expired(limes.engine, now, made_before)):
        try:
            closed += _expire(limes, row, now)
        except NotFound:
            log.info("quota request %s: its project or domain is gone", row.id)
        except LimesError as error:
            log.warning("quota request %s could not be closed: %s", row.id, error)
    return closed


@atomic
def _expire(limes: Limes, row: lists.RequestRow, now: float) -> int:
    place = Place(row.domain_uuid, row.project_uuid or "")
    locked = lock_request(limes, place, row.id, ())
    if locked.request.status != row.status:
        return 0
    is_over = row.until is not None and row.until <= now
    text = f"it was for the time until {render_minute(row.until or 0)}" if is_over else "no decision was made in time"
    _close(limes, locked, RequestStatus.EXPIRED, text)
    return 1
