"""Creating and deleting commitments; and previews: whether and when one could be confirmed, and what to warn of.

Previews use the same checks and figures, and write nothing.
"""

from collections.abc import Collection

import orjson
from msgspec import Struct, structs

from limes.app.context import Limes
from limes.autogrow.compute import autogrow_rule
from limes.catalog import catalog
from limes.catalog import queries as catalog_queries
from limes.commitments import queries, rules, store
from limes.commitments.claims import Claims, Tally
from limes.commitments.commitment import Commitment, Status, advance, canonical_duration
from limes.commitments.document import Commitment as CommitmentDocument
from limes.commitments.plan import Demand, Plan, advise, make_plan
from limes.commitments.rules import CommitmentRequest
from limes.commitments.store import Change, CommitmentView
from limes.db.transactions import atomic, snapshot
from limes.kernel.errors import Conflict, Forbidden, Unprocessable
from limes.kernel.units import Unit
from limes.kernel.validation.shape import stored
from limes.projects.queries import ProjectRow
from limes.projects.scope import find_project
from limes.quota.queries import project_quotas_by_resource


class _NoCapacity(Conflict):
    """There is no capacity to confirm it at once."""


class Created(Struct, frozen=True):
    document: CommitmentDocument
    warnings: tuple[str, ...]


def create_commitment(
    limes: Limes, domain_uuid: str, project_uuid: str, request: CommitmentRequest, key: str | None = None
) -> Created:
    """An idempotency key that was used for the same request answers the same commitment again. Raises `NotFound`,
    `NotReady`, `Unprocessable`, `DurationError`, and `Conflict` if there is no capacity to confirm it at once."""
    try:
        return _create(limes, domain_uuid, project_uuid, request, key)
    except _NoCapacity as refusal:
        # after the locks are gone: the future may take a while to find out
        plan = plan_commitment(limes, domain_uuid, project_uuid, request)
        raise Conflict(f"{refusal}; {advise(plan, limes.catalog.unit_of(request.ref))}") from refusal


@atomic
def _create(limes: Limes, domain_uuid: str, project_uuid: str, request: CommitmentRequest, key: str | None) -> Created:
    project = find_project(limes.engine, domain_uuid, project_uuid)
    if key is not None and (earlier := _find_earlier_answer(limes, project, key, request)):
        return earlier
    made = with_warnings(limes, _store(limes, project, request))
    document = CommitmentDocument.of(made.commitment, made.ref, made.unit)
    if key is not None:
        queries.remember_key(limes.engine, project.id, key, request.canonical(), document.as_json(), limes.now())
    return Created(document, made.warnings)


def _find_earlier_answer(limes: Limes, project: ProjectRow, key: str, request: CommitmentRequest) -> Created | None:
    earlier = queries.claim_key(limes.engine, project.id, key, limes.now())
    if earlier is None:
        return None
    if earlier.request != request.canonical():
        raise Unprocessable("this Idempotency-Key was already used in this project, for another request")
    document = stored(earlier.document)
    commitment = queries.find(limes.engine, orjson.loads(earlier.document)["id"])
    resource = limes.catalog.find(request.ref)
    is_gone = commitment is None or not commitment.is_live or commitment.project_id != project.id
    if commitment is None or resource is None or is_gone:
        return Created(document, ())
    return Created(document, with_warnings(limes, CommitmentView(commitment, request.ref, resource.unit)).warnings)


def _store(limes: Limes, project: ProjectRow, request: CommitmentRequest) -> CommitmentView:
    behavior, now = rules.check_request(request, limes.catalog), limes.now()
    rules.check_times(request, behavior, now)
    resource_id = _committable_id(limes, project.id, request)
    unit = limes.catalog.unit_of(request.ref)
    changes = store.lock(limes, [resource_id], now)  # commitments that wait for capacity come first
    if request.confirm_by is None:
        tally = store.tally(limes, request.ref, resource_id, {request.az}, {project.id}, now)
        if not tally.allows(request.az, project.id, request.amount):
            raise _NoCapacity(_no_capacity(tally.claims, request.az, unit))
    commitment = store.insert(
        limes,
        Commitment(
            id=0,
            uuid=limes.ids.uuid(),
            project_id=project.id,
            resource_id=resource_id,
            az=request.az,
            amount=request.amount,
            duration=canonical_duration(request.duration),
            status=Status.CONFIRMED if request.confirm_by is None else Status.PLANNED,
            created_at=now,
            creator_uuid=limes.initiator.id,
            creator_name=f"{limes.initiator.name}@{limes.initiator.user_domain}",
            confirm_by=None if request.confirm_by is None else float(request.confirm_by),
            confirmed_at=now if request.confirm_by is None else None,
            expires_at=rules.expiry(request, now),
            auto_renews=request.auto_renews,
        ),
    )
    store.record(limes, [*changes, Change("created", commitment)], now)
    return CommitmentView(commitment, request.ref, unit)


@atomic
def delete_commitment(limes: Limes, domain_uuid: str, project_uuid: str, id_: int, *, as_admin: bool) -> None:
    """A project may take back a commitment, even a confirmed one, for a configured time. With `as_admin`, unconfirmed
    ones can be deleted at any time. Raises `NotFound` and `Forbidden`."""
    now = limes.now()
    commitment, changes = store.lock_commitment(limes, domain_uuid, project_uuid, id_, now)
    if not _is_fresh(limes, commitment, now):
        if commitment.is_confirmed:
            raise Forbidden("only unconfirmed commitments can be deleted, and this one is confirmed")
        if not as_admin:
            grace = limes.settings.commitments.self_delete_grace
            raise Forbidden(f"commitments can only be taken back for {grace:.0f} seconds")
    queries.delete(limes.engine, [commitment.id])
    changes.append(Change("deleted", commitment))
    if commitment.is_confirmed:
        changes += store.settle(limes, commitment.resource_id, now)  # others may fit now
    store.record(limes, changes, now)


def _is_fresh(limes: Limes, commitment: Commitment, now: float) -> bool:
    """Returns whether it may still be taken back. One made of others may not: that would take those back, too."""
    if now >= commitment.created_at + limes.settings.commitments.self_delete_grace:
        return False
    if commitment.predecessor_id is None:
        return True
    predecessor = queries.find(limes.engine, commitment.predecessor_id)
    return predecessor is not None and predecessor.status is not Status.SUPERSEDED  # a renewed one stays


# -- previews ----------------------------------------------------------------------------------------------------------

_NO_CAPACITY = "not enough capacity available for immediate confirmation"


def _no_capacity(claims: Claims, az: str, unit: Unit) -> str:
    """Returns why a commitment cannot be confirmed. Says so if it is usage in unknown AZs that takes the room."""
    if not claims.holds_back(az):
        return _NO_CAPACITY
    return f"{_NO_CAPACITY}: {unit.render(claims.unplaced)} are used in unknown availability zones and cannot be sold"


class Verdict(Struct, frozen=True):
    is_possible: bool
    reason: str = ""
    plan: Plan | None = None


@snapshot
def preview_commitment(limes: Limes, domain_uuid: str, project_uuid: str, request: CommitmentRequest) -> Verdict:
    """Returns whether it would be confirmed at once. Raises as creating it, except for capacity and earliest date."""
    if request.confirm_by is not None:
        raise Unprocessable("confirm_by must not be set here: this asks for immediate confirmation")
    behavior = rules.check_request(request, limes.catalog)
    project = find_project(limes.engine, domain_uuid, project_uuid).id
    resource_id = _committable_id(limes, project, request)
    now = limes.now()
    if (behavior.commitment_min_confirm_date or 0.0) > now:
        return Verdict(False, rules.too_early(behavior), _plan(limes, project, request, resource_id, now))
    advanced = [advance(each, now) for each in queries.unsettled(limes.engine, resource_id, now)]
    pending = [each for each in advanced if each.status is Status.PENDING]
    waiting = store.without_forbidden(limes, resource_id, pending)
    tally = _tally(limes, project, request, resource_id, waiting, now)
    tally.confirm_in_turn(waiting)  # they come first
    if tally.allows(request.az, project, request.amount):
        return Verdict(True)
    plan = _plan(limes, project, request, resource_id, now)
    unit = limes.catalog.unit_of(request.ref)
    return Verdict(False, f"{_no_capacity(tally.claims, request.az, unit)}; {advise(plan, unit)}", plan)


@snapshot
def plan_commitment(limes: Limes, domain_uuid: str, project_uuid: str, request: CommitmentRequest) -> Plan:
    """Returns when the commitment could be confirmed: not before `confirm_by` and the resource's earliest date. Raises
    `NotFound`, `NotReady`, `DurationError` and `Unprocessable`."""
    rules.check_request(request, limes.catalog)
    project = find_project(limes.engine, domain_uuid, project_uuid).id
    return _plan(limes, project, request, _committable_id(limes, project, request), limes.now())


def _plan(limes: Limes, project: int, request: CommitmentRequest, resource_id: int, now: float) -> Plan:
    live = store.without_forbidden(limes, resource_id, queries.live_in(limes.engine, resource_id))
    tally = _tally(limes, project, request, resource_id, live, now)
    min_date = limes.catalog.behavior(request.ref).commitment_min_confirm_date
    earliest = max(request.confirm_by or 0.0, min_date or 0.0)
    return make_plan(tally, live, Demand(request.az, project, request.amount, earliest), now)


def _tally(
    limes: Limes, project: int, request: CommitmentRequest, resource_id: int, others: Collection[Commitment], now: float
) -> Tally:
    azs, projects = {each.az for each in others}, {each.project_id for each in others}
    return store.tally(limes, request.ref, resource_id, azs | {request.az}, projects | {project}, now)


def _committable_id(limes: Limes, project: int, request: CommitmentRequest) -> int:
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
    return structs.replace(
        view, warnings=_warnings(limes, commitment.project_id, commitment.resource_id, view.ref, start)
    )


def _warnings(
    limes: Limes, project: int, resource_id: int, ref: catalog.Ref, start: float, additional: int = 0
) -> tuple[str, ...]:
    """Returns warnings about the project's commitments that hold at `start`, and an `additional` amount. None where
    quota follows commitments: it is raised when they are confirmed."""
    if autogrow_rule(limes.catalog, ref):
        return ()
    row = project_quotas_by_resource(limes.engine, project, [resource_id]).get(resource_id)
    committed = queries.amount_held_at(limes.engine, project, resource_id, start)
    text = rules.warn_beyond_quota(ref, limes.catalog.unit_of(ref), committed + additional, row.quota if row else None)
    return () if text is None else (text,)
