"""Previews of a new commitment: whether and when it could be confirmed, and what to warn of.

They use the same checks and figures as creating it, and write nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from limes.actions.autogrow import autogrow_rule
from limes.actions.commitments import store
from limes.actions.commitments.store import CommitmentView
from limes.actions.context import Limes
from limes.actions.lookup import find_project
from limes.core.catalog import Ref
from limes.core.commitments.claims import Claims, Tally
from limes.core.commitments.commitment import Commitment, Status, advance
from limes.core.commitments.plan import Plan, Want, advise, make_plan
from limes.core.commitments.request import CommitmentRequest, beyond_quota, check_request, too_early
from limes.core.units import Unit
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitments as queries
from limes.db.queries.quotas import project_quotas_by_resource
from limes.db.transactions import snapshot
from limes.errors import Unprocessable

_NO_CAPACITY = "not enough capacity available for immediate confirmation"


def no_capacity(claims: Claims, az: str, unit: Unit) -> str:
    """Returns why a commitment cannot be confirmed. Says so if it is usage in unknown AZs that takes the room."""
    if not claims.holds_back(az):
        return _NO_CAPACITY
    return f"{_NO_CAPACITY}: {unit.render(claims.unplaced)} are used in unknown availability zones and cannot be sold"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a commitment would be confirmed at once and, if not, why and what would work."""

    is_possible: bool
    reason: str = ""
    plan: Plan | None = None


@snapshot
def preview_commitment(limes: Limes, domain_uuid: str, project_uuid: str, request: CommitmentRequest) -> Verdict:
    """Returns whether it would be confirmed at once. Raises as creating it, except for capacity and earliest date."""
    if request.confirm_by is not None:
        raise Unprocessable("confirm_by must not be set here: this asks for immediate confirmation")
    behavior = check_request(request, limes.catalog)
    project = find_project(limes.engine, domain_uuid, project_uuid).id
    resource_id = committable_resource_id(limes, project, request)
    now = limes.now()
    if (behavior.commitment_min_confirm_date or 0.0) > now:
        return Verdict(False, too_early(behavior), _plan(limes, project, request, resource_id, now))
    advanced = [advance(each, now) for each in queries.unsettled(limes.engine, resource_id, now)]
    pending = [each for each in advanced if each.status is Status.PENDING]
    waiting = store.without_forbidden(limes, resource_id, pending)
    tally = _tally(limes, project, request, resource_id, waiting, now)
    tally.confirm_in_turn(waiting)  # they come first
    if tally.allows(request.az, project, request.amount):
        return Verdict(True)
    plan = _plan(limes, project, request, resource_id, now)
    unit = limes.catalog.unit_of(request.ref)
    return Verdict(False, f"{no_capacity(tally.claims, request.az, unit)}; {advise(plan, unit)}", plan)


@snapshot
def plan_commitment(limes: Limes, domain_uuid: str, project_uuid: str, request: CommitmentRequest) -> Plan:
    """Returns when the commitment could be confirmed: not before `confirm_by` and the resource's earliest date.

    Raises `NotFound`, `NotReady`, `DurationError` and `Unprocessable`.
    """
    check_request(request, limes.catalog)
    project = find_project(limes.engine, domain_uuid, project_uuid).id
    return _plan(limes, project, request, committable_resource_id(limes, project, request), limes.now())


def _plan(limes: Limes, project: int, request: CommitmentRequest, resource_id: int, now: float) -> Plan:
    live = store.without_forbidden(limes, resource_id, queries.live_in(limes.engine, resource_id))
    tally = _tally(limes, project, request, resource_id, live, now)
    min_date = limes.catalog.behavior(request.ref).commitment_min_confirm_date
    earliest = max(request.confirm_by or 0.0, min_date or 0.0)
    return make_plan(tally, live, Want(request.az, project, request.amount, earliest), now)


def _tally(
    limes: Limes, project: int, request: CommitmentRequest, resource_id: int, others: Collection[Commitment], now: float
) -> Tally:
    """Returns the figures for the wanted commitment and these others."""
    azs, projects = {each.az for each in others}, {each.project_id for each in others}
    return store.tally(limes, request.ref, resource_id, azs | {request.az}, projects | {project}, now)


def committable_resource_id(limes: Limes, project: int, request: CommitmentRequest) -> int:
    """Returns the id of the resource. Raises `NotReady` and `Unprocessable` if the project cannot commit to it."""
    resource_id = catalog_queries.resource_id(limes.engine, request.ref)
    store.require_committable(limes, project, resource_id, request.ref)
    return resource_id


@snapshot
def preview_warnings(limes: Limes, domain_uuid: str, project_uuid: str, request: CommitmentRequest) -> tuple[str, ...]:
    """Returns what creating the commitment would warn of. The request was checked before. Raises `NotFound`."""
    project = find_project(limes.engine, domain_uuid, project_uuid)
    resource_id = catalog_queries.resource_id(limes.engine, request.ref)
    start = max(limes.now(), float(request.confirm_by or 0))
    return _warnings(limes, project.id, resource_id, request.ref, start, request.amount)


def with_warnings(limes: Limes, view: CommitmentView) -> CommitmentView:
    """Adds warnings to a commitment that this transaction has stored."""
    commitment = view.commitment
    start = max(limes.now(), commitment.starts_at)
    return replace(view, warnings=_warnings(limes, commitment.project_id, commitment.resource_id, view.ref, start))


def _warnings(
    limes: Limes, project: int, resource_id: int, ref: Ref, start: float, additional: int = 0
) -> tuple[str, ...]:
    """Returns warnings about the project's commitments that hold at `start`, and an `additional` amount.

    None where quota follows commitments: it is raised when they are confirmed.
    """
    if autogrow_rule(limes.catalog, ref):
        return ()
    row = project_quotas_by_resource(limes.engine, project, [resource_id]).get(resource_id)
    committed = queries.amount_held_at(limes.engine, project, resource_id, start)
    text = beyond_quota(ref, limes.catalog.unit_of(ref), committed + additional, row.quota if row else None)
    return () if text is None else (text,)
