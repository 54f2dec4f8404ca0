"""Making new commitments of old ones: merge, renew, change the duration, convert to another resource; and transfers.

All use cases raise `NotFound`, `Conflict` and `Unprocessable`, and change all or nothing.
"""

import hmac
from collections.abc import Sequence

from msgspec import Struct, structs

from limes.app.context import Limes
from limes.catalog import catalog
from limes.catalog import queries as catalog_queries
from limes.commitments import create, queries, reshaping, rules, store
from limes.commitments.commitment import Commitment, canonical_duration, hand_over, offer, withdraw
from limes.commitments.reshaping import split
from limes.commitments.rules import Rate, conversion_rates
from limes.commitments.store import Change, CommitmentView
from limes.db.transactions import atomic
from limes.kernel.errors import Conflict, NotFound, Unprocessable
from limes.projects.scope import find_project


class Conversion(Struct, frozen=True):
    target: catalog.Ref
    source_amount: int
    target_amount: int


@atomic
def merge_commitments(limes: Limes, domain_uuid: str, project_uuid: str, numbers: Sequence[int]) -> CommitmentView:
    """Merges several into one, which ends when the last of them would."""
    now = limes.now()
    project = find_project(limes.engine, domain_uuid, project_uuid)
    named = [queries.find(limes.engine, number) for number in dict.fromkeys(numbers)]
    own = [each for each in named if each is not None and each.project_id == project.id]
    if len(own) < len(named):
        raise NotFound("no such commitment")
    changes = store.lock(limes, {each.resource_id for each in own}, now)
    own = [store.read_again(limes, each) for each in own]
    merged = reshaping.merge(own, now, limes.ids.uuid())
    for each in own:  # the merged one could be renewed, too, or not at all
        queries.require_not_renewed(limes.engine, each, ", so it cannot be merged")
    successors, more_changes = store.reshape(limes, merged)
    store.record(limes, [*changes, *more_changes], now)
    return store.view(limes, successors[0])


@atomic
def renew_commitment(limes: Limes, domain_uuid: str, project_uuid: str, id_: int) -> CommitmentView:
    now = limes.now()
    commitment, changes = store.lock_commitment(limes, domain_uuid, project_uuid, id_, now)
    renewal = store.renew(limes, commitment, now, limes.settings.commitments.renewal_window)
    store.record(limes, [*changes, renewal], now)
    return create.with_warnings(limes, store.view(limes, renewal.commitment))


@atomic
def switch_auto_renewal(limes: Limes, domain_uuid: str, project_uuid: str, id_: int, *, on: bool) -> CommitmentView:
    """Says whether a live commitment is to be renewed by itself: once, as its renewal takes over the wish. Raises
    `Conflict` for one that was renewed already."""
    now = limes.now()
    commitment, changes = store.lock_commitment(limes, domain_uuid, project_uuid, id_, now)
    queries.require_not_renewed(limes.engine, commitment, ", which inherits auto_renew: change that one")
    wanted = structs.replace(commitment, auto_renews=True) if on else reshaping.without_renewal(commitment)
    if wanted.auto_renews != commitment.auto_renews:
        queries.update(limes.engine, wanted)
        changes.append(Change("auto_renewal_changed", wanted))
    store.record(limes, changes, now)
    return store.view(limes, wanted)


@atomic
def change_duration(limes: Limes, domain_uuid: str, project_uuid: str, id_: int, duration: str) -> CommitmentView:
    """Makes it last longer, counted from the same start. Not once it was renewed: both would hold at the same time, and
    to move the renewal would change what others know of it."""
    wanted, now = canonical_duration(duration), limes.now()
    commitment, changes = store.lock_commitment(limes, domain_uuid, project_uuid, id_, now)
    ref = store.ref_of(limes, commitment)
    rules.check_duration(wanted, rules.committable_resource(ref, limes.catalog)[1])
    store.require_committable(limes, commitment.project_id, commitment.resource_id, ref)
    changed = reshaping.change_duration(commitment, wanted, now)
    if changed != commitment:
        queries.require_not_renewed(limes.engine, commitment, ": change the duration of that one")
        queries.update(limes.engine, changed)
        changes.append(Change("duration_changed", changed))
    store.record(limes, changes, now)
    return store.view(limes, changed)


def find_conversions(limes: Limes, source: catalog.Ref) -> dict[catalog.Ref, Rate]:
    """Returns what commitments to this resource can become. Raises `Unprocessable` if it allows no commitments."""
    rules.committable_resource(source, limes.catalog)
    rates = conversion_rates(limes.settings.commitments.conversions, source)
    return {
        target: rate
        for target, rate in sorted(rates.items())
        if limes.catalog.find(target) and limes.catalog.behavior(target).commitment_durations
    }


@atomic
def convert_commitment(
    limes: Limes, domain_uuid: str, project_uuid: str, id_: int, wanted: Conversion
) -> CommitmentView:
    """Converts it, or a part of it, to another resource. A confirmed one stays so, and needs capacity there."""
    now = limes.now()
    before = store.find(limes, domain_uuid, project_uuid, id_)
    ids = catalog_queries.resource_ids(limes.engine)
    if wanted.target not in ids:
        raise Unprocessable("no such resource")
    target_id = ids[wanted.target]
    changes = store.lock(limes, [before.resource_id, target_id], now)
    commitment = store.read_again(limes, before)
    _check(limes, commitment, store.ref_of(limes, commitment), wanted, now)
    store.require_committable(limes, commitment.project_id, target_id, wanted.target)
    uuids = (limes.ids.uuid(), limes.ids.uuid())
    converted = reshaping.convert(commitment, wanted.source_amount, target_id, wanted.target_amount, now, uuids)
    if commitment.is_confirmed:
        tally = store.tally(limes, wanted.target, target_id, {commitment.az}, {commitment.project_id}, now)
        if not tally.allows(commitment.az, commitment.project_id, wanted.target_amount):
            raise Conflict("not enough capacity available to confirm the converted commitment")
    successors, changes_here = store.reshape(limes, converted)
    for resource_id in (commitment.resource_id, target_id):
        changes_here += store.settle(limes, resource_id, now)
    store.record(limes, [*changes, *changes_here], now)
    return create.with_warnings(limes, store.view(limes, queries.find(limes.engine, successors[0].id) or successors[0]))


def _check(limes: Limes, commitment: Commitment, source: catalog.Ref, wanted: Conversion, now: float) -> None:
    """Raises `Unprocessable` if the target does not accept it, or the amounts do not fit the rate."""
    rate = conversion_rates(limes.settings.commitments.conversions, source).get(wanted.target)
    if rate is None:
        raise Unprocessable(f"commitments of {'/'.join(source)} cannot be converted to {'/'.join(wanted.target)}")
    resource, behavior = rules.committable_resource(wanted.target, limes.catalog)
    rules.check_az(commitment.az, behavior, limes.catalog)
    rules.check_duration(commitment.duration, behavior)
    rules.check_earliest(now if commitment.is_confirmed else commitment.starts_at, behavior)
    rules.check_amount(wanted.source_amount, resource)
    rules.check_amount(wanted.target_amount, resource)
    required = rate.apply(wanted.source_amount)
    if wanted.target_amount != required:
        raise Unprocessable(f"target_amount must be {required} for a source_amount of {wanted.source_amount}")
    rules.check_amount(required, resource)


# -- transfer: its owner marks it, and anybody with the token can take it into another project -------------------------

NO_MATCH = "no matching commitment found"


@atomic
def offer_commitment(
    limes: Limes, domain_uuid: str, project_uuid: str, id_: int, amount: int, transfer_status: str
) -> CommitmentView:
    """Marks a commitment, or a part of it, for transfer, and returns it with its token. An empty status takes the mark
    away. An amount that is not below the commitment's means all of it. Raises `NotFound`, and `Unprocessable` for a
    commitment that is not confirmed."""
    now = limes.now()
    commitment, changes = store.lock_commitment(limes, domain_uuid, project_uuid, id_, now)
    if not transfer_status:
        marked = withdraw(commitment)
        changes += [Change("transfer_withdrawn", marked)] if marked != commitment else []
    else:
        offer(commitment, transfer_status, "")  # a refusal comes before anything is split
        if amount < commitment.amount:
            parts = split(commitment, amount, now, (limes.ids.uuid(), limes.ids.uuid()))
            successors, more_changes = store.reshape(limes, parts)
            commitment, changes = successors[0], [*changes, *more_changes]
        marked = offer(commitment, transfer_status, limes.ids.token())
        changes.append(Change("transfer_started", marked))
    queries.update(limes.engine, marked)
    store.record(limes, changes, now)
    return store.view(limes, marked)


@atomic
def take_commitment(limes: Limes, domain_uuid: str, project_uuid: str, id_: int, token: str) -> CommitmentView:
    """Moves the commitment of that number and token into the project. Raises `NotFound`, and `Conflict` if the move
    would claim more capacity than there is: usage that the commitment covered in its old project counts by itself
    afterwards."""
    now = limes.now()
    target = find_project(limes.engine, domain_uuid, project_uuid)
    commitment = queries.find(limes.engine, id_)
    if commitment is None:
        raise NotFound(NO_MATCH)
    changes = store.lock(limes, [commitment.resource_id], now)
    commitment = queries.find(limes.engine, id_)
    if commitment is None or not _matches(commitment.transfer_token, token):
        raise NotFound(NO_MATCH)
    ref = store.ref_of(limes, commitment)
    store.require_committable(limes, target.id, commitment.resource_id, ref)
    source = commitment.project_id
    tally = store.tally(limes, ref, commitment.resource_id, {commitment.az}, {source, target.id}, now)
    if not tally.allows_move(commitment.az, source, target.id, commitment.amount):
        raise Conflict("not enough capacity available to confirm this commitment in the receiving project")
    transferred = hand_over(commitment, target.id)
    queries.update(limes.engine, transferred)
    changes.append(Change("transferred", transferred))
    changes += store.settle(limes, commitment.resource_id, now)  # the transfer may have freed capacity
    store.record(limes, changes, now)
    return create.with_warnings(limes, store.view(limes, transferred))


def _matches(expected: str | None, token: str) -> bool:
    """Compares tokens in constant time."""
    return expected is not None and hmac.compare_digest(expected.encode(), token.encode())
