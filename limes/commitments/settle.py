"""What happens to commitments without a request: they are renewed, expire, are confirmed in turn, and are deleted in
the end."""

import logging
from collections.abc import Collection, Iterable
from functools import partial

from msgspec import structs

from limes.app.context import Limes
from limes.catalog.queries import lock_resources
from limes.commitments import queries, reshaping, store
from limes.commitments.commitment import Commitment, advance
from limes.commitments.store import Change
from limes.db.transactions import atomic
from limes.kernel.errors import LimesError

log = logging.getLogger(__name__)

_BATCH = 500


def renew_and_settle(limes: Limes) -> None:
    renew_automatically(limes)  # first, so that its renewal follows
    settle_commitments(limes)


def renew_automatically(limes: Limes) -> None:
    """Renews all that is due, in one transaction for each resource. Several processes may do it at once. If none does
    so until a commitment's end, it is renewed when it is settled; others may have taken the capacity by then."""
    rules = limes.settings.commitments
    before = limes.now() + min(rules.auto_renewal_lead, rules.renewal_window)
    for resource_id in limes.engine.snapshot(lambda: queries.renewing_resources(limes.engine, before)):
        _renew(limes, resource_id, before)


@atomic
def _renew(limes: Limes, resource_id: int, before: float) -> None:
    rules, now = limes.settings.commitments, limes.now()
    changes = store.lock(limes, [resource_id], now)
    for commitment in queries.renewing(limes.engine, resource_id, before):
        if now < reshaping.renewed_at(commitment, rules.renewal_window, rules.auto_renewal_lead):
            continue
        try:
            changes.append(store.renew(limes, commitment, now, rules.renewal_window))
        except store.RENEWAL_ERRORS as error:
            if str(error) != commitment.renewal_error:
                queries.update(limes.engine, structs.replace(commitment, renewal_error=str(error)))
                text = "commitment %d could not be renewed; this is tried again until it ends: %s"
                limes.engine.after_commit(partial(log.warning, text, commitment.id, error))
    store.record(limes, changes, now)


def settle_commitments(limes: Limes) -> None:
    """Does all that is due, in one transaction for each resource. Several processes may do it at once. Commitments are
    deleted some time after their end, and what was split, merged or converted with the last that was made of it. Their
    events stay."""
    now = limes.now()
    for resource_id in limes.engine.snapshot(lambda: queries.unsettled_resources(limes.engine, now)):
        _settle(limes, resource_id)
    while _forget(limes, now - limes.settings.commitments.retention):
        pass  # what was made of others goes first, and then these


def settle_waiting(limes: Limes, resources: Collection[int] | None = None) -> None:
    """Settles those of these resources (by id; None: of all) for which commitments wait. To be called after a commit
    that has freed capacity: freed in one AZ, it may help commitments that wait in another. Not to be called inside a
    transaction, where locks would be taken in the wrong order. One statement if none waits. Errors are only logged,
    since the job does the same later."""
    try:
        waiting = queries.waiting_resources(limes.engine)
        for id_ in sorted(waiting if resources is None else waiting.intersection(resources)):
            _settle(limes, id_)
    except LimesError as error:
        log.warning("commitments that wait for capacity have to wait for the next run of the job: %s", error)


def settle_locked(limes: Limes, resources: Iterable[int]) -> None:
    """Settles resources whose capacity has changed, and that this transaction has locked. Comes last in it."""
    now = limes.now()
    store.record(limes, [change for id_ in sorted(resources) for change in store.settle(limes, id_, now)], now)


def delete_unconfirmed(limes: Limes, projects: Collection[str]) -> None:
    """Deletes unconfirmed commitments of vanished projects (by UUID), which have no use."""
    for resource_id in {each.resource_id for each in _unconfirmed(limes, projects)}:
        _delete_unconfirmed(limes, projects, resource_id)


@atomic
def _delete_unconfirmed(limes: Limes, projects: Collection[str], resource_id: int) -> None:
    now = limes.now()
    lock_resources(limes.engine, [resource_id])  # and nothing is confirmed before it is deleted
    unconfirmed = [each for each in _unconfirmed(limes, projects) if each.resource_id == resource_id]
    deleted = [each for each in unconfirmed if advance(each, now).is_live]
    queries.delete(limes.engine, [each.id for each in deleted])
    changes = [Change("deleted", each) for each in deleted]
    store.record(limes, changes + store.settle(limes, resource_id, now), now)


def _unconfirmed(limes: Limes, projects: Collection[str]) -> list[Commitment]:
    return queries.unconfirmed_of(limes.engine, sorted(projects))


@atomic
def _settle(limes: Limes, resource_id: int) -> None:
    now = limes.now()
    store.record(limes, store.lock(limes, [resource_id], now), now)


@atomic
def _forget(limes: Limes, before: float) -> int:
    ended = queries.ended_before(limes.engine, before, _BATCH)
    queries.delete(limes.engine, ended)
    queries.forget_keys_before(limes.engine, before)
    return len(ended)
