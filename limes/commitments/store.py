"""What all use cases of commitments share: locks, figures, changes with their events, and settling.

Settling a resource means to expire commitments that have ended, and to confirm pending ones that fit into the capacity.
Invariant: every change of commitments to a resource, and every decision on its capacity, holds the lock on the
resource's row. Each change is written in one transaction with its event, and events come last
(`limes.commitments.events` says why). All functions are to be called inside the caller's transaction.
"""

import logging
import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import orjson
from msgspec import Struct, structs

from limes.app.context import Limes
from limes.audit.events import CommitmentStep, initiator_of
from limes.autogrow.compute import autogrow_rule, raise_to_demand
from limes.autogrow.queries import mark_due
from limes.backends.base import is_forbidden
from limes.catalog import queries as catalog_queries
from limes.catalog.catalog import Ref
from limes.catalog.queries import lock_resources
from limes.commitments import claims, queries, reshaping, rules
from limes.commitments import events as commitment_events
from limes.commitments import figures as commitment_figures
from limes.commitments.commitment import Commitment, Status, advance, confirm
from limes.commitments.document import EventCommitment
from limes.commitments.reshaping import NO_DEADLINES, Deadlines
from limes.kernel.errors import Conflict, NotFound, NotReady, Unprocessable
from limes.kernel.units import Unit
from limes.projects import queries as project_queries
from limes.projects import scope
from limes.quota import change_log
from limes.quota import queries as quota_queries
from limes.quota.change_log import scope_of

log = logging.getLogger(__name__)

RENEWAL_ERRORS = (Conflict, NotFound, NotReady, Unprocessable)


class Change(Struct, frozen=True):
    event: str
    commitment: Commitment
    """As it is afterwards."""
    related: tuple[str, ...] = ()
    """UUIDs of the commitments that it was made of, or that have taken its place."""


class CommitmentView(Struct, frozen=True):
    commitment: Commitment
    ref: Ref
    unit: Unit
    warnings: tuple[str, ...] = ()
    deadlines: Deadlines = NO_DEADLINES
    """Only known in the list of a project."""


# -- reading -----------------------------------------------------------------------------------------------------------


def refs_of(limes: Limes, resources: Iterable[int]) -> dict[int, Ref]:
    return catalog_queries.refs_by_id(limes.engine, sorted(set(resources)))


def ref_of(limes: Limes, commitment: Commitment) -> Ref:
    """Returns the commitment's resource. Raises `NotFound` if that is no longer configured: it can only end then."""
    ref = refs_of(limes, [commitment.resource_id])[commitment.resource_id]
    if limes.catalog.find(ref) is None:
        raise NotFound(f"resource {'/'.join(ref)} is not configured any more")
    return ref


def view(limes: Limes, commitment: Commitment) -> CommitmentView:
    """Raises `NotFound` if the commitment's resource is no longer configured."""
    ref = ref_of(limes, commitment)
    return CommitmentView(commitment, ref, limes.catalog.unit_of(ref))


def views(limes: Limes, commitments: Iterable[Commitment]) -> list[CommitmentView]:
    """Leaves out commitments to resources that are no longer configured."""
    commitments = list(commitments)
    refs = refs_of(limes, (commitment.resource_id for commitment in commitments))
    return [
        CommitmentView(commitment, ref, resource.unit)
        for commitment in commitments
        if (ref := refs.get(commitment.resource_id)) is not None and (resource := limes.catalog.find(ref)) is not None
    ]


def tally(
    limes: Limes, ref: Ref, resource_id: int, azs: Collection[str], projects: Collection[int], now: float
) -> claims.Tally:
    behavior = limes.catalog.behavior(ref)
    return claims.Tally(commitment_figures.read_balance(limes.engine, resource_id, behavior, azs, projects, now))


def require_committable(limes: Limes, project_id: int, resource_id: int, ref: Ref) -> None:
    """Raises `NotReady` if the project was never scraped for the resource, and `Unprocessable` if the backend does not
    let the project have it."""
    row = quota_queries.project_quotas_by_resource(limes.engine, project_id, [resource_id]).get(resource_id)
    if row is None:
        raise scope.not_ready(limes.engine, project_id, [ref])
    if is_forbidden(row.max_backend_quota):
        raise Unprocessable(
            f"the backend does not let this project have {'/'.join(ref)}, so there are no commitments to it"
        )


def without_forbidden(limes: Limes, resource_id: int, commitments: Sequence[Commitment]) -> list[Commitment]:
    """Leaves out unconfirmed commitments of projects that the backend does not let have the resource."""
    projects = {each.project_id for each in commitments if not each.is_confirmed}
    forbidden = quota_queries.forbidden_projects(limes.engine, resource_id, projects) if projects else ()
    return [each for each in commitments if each.is_confirmed or each.project_id not in forbidden]


def find(limes: Limes, domain_uuid: str, project_uuid: str, id_: int) -> Commitment:
    """Returns the commitment of that number, live or not. Raises `NotFound`."""
    project = scope.find_project(limes.engine, domain_uuid, project_uuid)
    commitment = queries.find(limes.engine, id_)
    if commitment is None or commitment.project_id != project.id:
        raise NotFound("no such commitment")
    return commitment


# -- changing ----------------------------------------------------------------------------------------------------------


def lock(limes: Limes, resources: Iterable[int], now: float) -> list[Change]:
    """Locks these resources against others who change commitments to them, and settles them."""
    ids = sorted(set(resources))
    if ids:
        lock_resources(limes.engine, ids)
    return [change for id_ in ids for change in settle(limes, id_, now)]


def lock_commitment(
    limes: Limes, domain_uuid: str, project_uuid: str, id_: int, now: float
) -> tuple[Commitment, list[Change]]:
    """Returns a live commitment of the project, with its resource locked and settled. Raises `NotFound`."""
    commitment = find(limes, domain_uuid, project_uuid, id_)
    changes = lock(limes, [commitment.resource_id], now)
    return read_again(limes, commitment), changes


def read_again(limes: Limes, commitment: Commitment) -> Commitment:
    """Reads the commitment after its resource was locked. Raises `NotFound` if it has ended or changed projects."""
    present = queries.find(limes.engine, commitment.id)
    if present is None or not present.is_live or present.project_id != commitment.project_id:
        raise NotFound("no such commitment")
    return present


def insert(limes: Limes, commitment: Commitment) -> Commitment:
    return structs.replace(commitment, id=queries.insert(limes.engine, commitment))


def reshape(limes: Limes, reshaped: reshaping.Reshaped) -> tuple[list[Commitment], list[Change]]:
    """Stores superseded commitments and their replacements. Returns the latter."""
    for old in reshaped.old:
        queries.update(limes.engine, old)
    new = [insert(limes, commitment) for commitment in reshaped.new]
    before, after = tuple(each.uuid for each in reshaped.old), tuple(each.uuid for each in new)
    changes = [Change("superseded", each, after) for each in reshaped.old]
    changes += [Change("created", each, before) for each in new]
    return new, changes


def renew(limes: Limes, commitment: Commitment, now: float, window: float) -> Change:
    """Stores a commitment that begins when this one ends, and returns that as a change. Takes over whether it is
    renewed by itself. Raises `Conflict`, `NotFound`, `NotReady` and `Unprocessable`; then nothing is written."""
    renewed = reshaping.renew(commitment, now, limes.ids.uuid(), window)
    queries.require_not_renewed(limes.engine, commitment)
    ref = ref_of(limes, commitment)
    rules.check_duration(commitment.duration, rules.committable_resource(ref, limes.catalog)[1])
    require_committable(limes, commitment.project_id, commitment.resource_id, ref)
    stored = insert(limes, renewed)
    if commitment.auto_renews:
        queries.update(limes.engine, reshaping.without_renewal(commitment))
    return Change("created", stored, (commitment.uuid,))


def settle(limes: Limes, resource_id: int, now: float) -> list[Change]:
    """Expires and confirms commitments to a locked resource, first come first served. Returns the changes, which are
    still to be recorded. One statement where there is nothing to do."""
    changes = []
    pending: list[Commitment] = []
    for commitment in queries.unsettled(limes.engine, resource_id, now):
        advanced = advance(commitment, now)
        if advanced.status is Status.EXPIRED and commitment.auto_renews:
            renewals = _renew_late(limes, commitment, now)
            changes += renewals
            pending += [renewal.commitment for renewal in renewals]
            advanced = reshaping.without_renewal(advanced)
        if advanced != commitment:
            queries.update(limes.engine, advanced)
            changes.append(Change(advanced.status.value, advanced))
        if advanced.status is Status.PENDING:
            pending.append(advanced)
    if pending:
        changes += _confirm_pending(limes, resource_id, pending, now)
    return changes


def _renew_late(limes: Limes, commitment: Commitment, now: float) -> list[Change]:
    """Renews one that has ended, because no collector ran when it was due."""
    try:
        renewal = renew(limes, commitment, now, math.inf)
    except RENEWAL_ERRORS as error:
        log.warning("commitment %d has ended and was not renewed: %s", commitment.id, error)
        return []
    pending = advance(renewal.commitment, now)
    queries.update(limes.engine, pending)
    return [structs.replace(renewal, commitment=pending)]


def _confirm_pending(limes: Limes, resource_id: int, pending: Sequence[Commitment], now: float) -> list[Change]:
    ref = refs_of(limes, [resource_id])[resource_id]
    if limes.catalog.find(ref) is None:
        return []
    earliest = limes.catalog.behavior(ref).commitment_min_confirm_date
    if earliest is not None and earliest > now:
        return []
    changes = []
    waiting = without_forbidden(limes, resource_id, pending)
    azs, projects = {each.az for each in waiting}, {each.project_id for each in waiting}
    for commitment in tally(limes, ref, resource_id, azs, projects, now).confirm_in_turn(waiting):
        confirmed = confirm(commitment, now)
        queries.update(limes.engine, confirmed)
        changes.append(Change("confirmed", confirmed))
    return changes


def record(limes: Limes, changes: Sequence[Change], now: float) -> None:
    """Writes the events of the changes, and has quota follow them. Comes last in a transaction."""
    if not changes:
        return
    refs = refs_of(limes, (change.commitment.resource_id for change in changes))
    _follow(limes, changes, refs, now)
    owners = project_queries.projects_by_id(limes.engine, {change.commitment.project_id for change in changes})
    rows, steps = [], []
    before: dict[str, Mapping[str, object]] = {}
    if limes.settings.audit.sinks:  # what the audit says that commitments were: as their last events say
        known = commitment_events.latest_documents(limes.engine, {change.commitment.uuid for change in changes})
        before = {uuid: orjson.loads(document) for uuid, document in known.items()}
    for change in changes:
        commitment, ref = change.commitment, refs[change.commitment.resource_id]
        owner = owners[commitment.project_id]
        unit, related = limes.catalog.unit_of(ref), list(change.related)
        document = EventCommitment.of(
            commitment, ref, unit, project_id=owner.uuid, domain_id=owner.domain_uuid, related=related
        ).as_json()
        who = initiator_of(change.event, limes.initiator)
        initiator = (who.id, who.name, who.request_id)
        rows.append(
            commitment_events.EventRow(
                change.event, commitment.uuid, owner.uuid, document, *initiator, owner.domain_uuid
            )
        )
        after = orjson.loads(document)
        steps.append(CommitmentStep(change.event, commitment.uuid, scope_of(owner), before.get(commitment.uuid), after))
        before[commitment.uuid] = after
        what = (commitment.uuid, owner.uuid, change.event, commitment.amount, *ref, commitment.az)
        log.info("commitment %s of project %s: %s (%d %s/%s in %s)", *what)
    change_log.record_commitments(limes, steps)
    commitment_events.append(limes.engine, rows, lambda: max(now, limes.now()))


def _follow(limes: Limes, changes: Sequence[Change], refs: Mapping[int, Ref], now: float) -> None:
    """Where quota follows commitments: grants what is needed now, and has the rest computed."""
    growing = {id_ for id_, ref in refs.items() if autogrow_rule(limes.catalog, ref)}
    if not growing:
        return
    mark_due(limes.engine, growing, now, lock=False)
    places = {(one.commitment.project_id, one.commitment.resource_id) for one in changes}
    raise_to_demand(limes, [place for place in places if place[1] in growing], now)
