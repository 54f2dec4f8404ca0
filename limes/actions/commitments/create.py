"""Creating and deleting commitments. `preview` says in advance what creating one would do."""

from dataclasses import dataclass

import orjson

from limes.actions.commitments import store
from limes.actions.commitments.preview import committable_resource_id, no_capacity, plan_commitment, with_warnings
from limes.actions.commitments.store import Change, CommitmentView
from limes.actions.context import Limes
from limes.actions.lookup import find_project
from limes.core.commitments.commitment import Commitment, Status, canonical_duration
from limes.core.commitments.document import Commitment as CommitmentDocument
from limes.core.commitments.plan import advise
from limes.core.commitments.request import CommitmentRequest, check_request, check_times, expiry
from limes.db.queries import commitments as queries
from limes.db.queries.projects import ProjectRow
from limes.db.transactions import atomic
from limes.errors import Conflict, Forbidden, Unprocessable
from limes.validation.shape import stored


class _NoCapacity(Conflict):
    """There is no capacity to confirm it at once."""


@dataclass(frozen=True, slots=True)
class Created:
    """The document of a new commitment, and what the caller should know."""

    document: CommitmentDocument
    warnings: tuple[str, ...]


def create_commitment(
    limes: Limes, domain_uuid: str, project_uuid: str, request: CommitmentRequest, key: str | None = None
) -> Created:
    """An idempotency key that was used for the same request answers the same commitment again.

    Raises `NotFound`, `NotReady`, `Unprocessable`, `DurationError`, and `Conflict` if there is no capacity to confirm
    it at once.
    """
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
    behavior, now = check_request(request, limes.catalog), limes.now()
    check_times(request, behavior, now)
    resource_id = committable_resource_id(limes, project.id, request)
    unit = limes.catalog.unit_of(request.ref)
    changes = store.lock(limes, [resource_id], now)  # those that wait for capacity come first
    if request.confirm_by is None:
        tally = store.tally(limes, request.ref, resource_id, {request.az}, {project.id}, now)
        if not tally.allows(request.az, project.id, request.amount):
            raise _NoCapacity(no_capacity(tally.claims, request.az, unit))
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
            expires_at=expiry(request, now),
            auto_renews=request.auto_renews,
        ),
    )
    store.record(limes, [*changes, Change("created", commitment)], now)
    return CommitmentView(commitment, request.ref, unit)


@atomic
def delete_commitment(limes: Limes, domain_uuid: str, project_uuid: str, id_: int, *, as_admin: bool) -> None:
    """A project may take back a commitment, even a confirmed one, for a configured time.

    With `as_admin`, unconfirmed ones can be deleted at any time. Raises `NotFound` and `Forbidden`.
    """
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
