"""What happens to commitments without a request: they expire, are confirmed in turn, and are deleted in the end."""

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial

from limes.actions.commitments.ledger import Change, Ledger
from limes.actions.context import Limes
from limes.audit.initiator import Initiator
from limes.core.commitments.commitment import Commitment, advance
from limes.db.queries import commitments as queries
from limes.db.queries.capacity import lock_resources
from limes.errors import LimesError

log = logging.getLogger(__name__)

_BATCH = 500


@dataclass(frozen=True, slots=True)
class SettleCommitments:
    """The use cases. Commitments are deleted `retention` seconds after their end, and what was split, merged or
    converted with the last that was made of it. Their events stay."""

    ledger: Ledger
    retention: float = 30 * 86400.0

    def by(self, initiator: Initiator) -> "SettleCommitments":
        """Returns the same use case for changes that `initiator` makes."""
        return replace(self, ledger=self.ledger.by(initiator))

    def settle_locked(self, resources: Iterable[int]) -> None:
        """Settles resources whose capacity has changed, and that this transaction has locked. Comes last in it."""
        now = self.ledger.now()
        self.ledger.record([change for id_ in sorted(resources) for change in self.ledger.settle(id_, now)], now)

    def settle_waiting(self, resources: Collection[int] | None = None) -> None:
        """Settles those of these resources (by id; None: of all) for which commitments wait.

        To be called after a commit that has freed capacity: freed in one AZ, it may help those that wait in another.
        Not to be called inside a transaction, where locks would be taken in the wrong order. One statement if nobody
        waits. Errors are only logged, since `run` does the same later.
        """
        try:
            waiting = queries.waiting_resources(self.ledger.engine)
            for id_ in sorted(waiting if resources is None else waiting.intersection(resources)):
                self.ledger.engine.atomic(partial(self._settle, id_))
        except LimesError as error:
            log.warning("commitments that wait for capacity have to wait for the next run of the job: %s", error)

    def delete_unconfirmed(self, projects: Collection[str]) -> None:
        """Deletes unconfirmed commitments of vanished projects (by UUID): nobody is there to use them."""
        for resource_id in {each.resource_id for each in self._unconfirmed(projects)}:
            self.ledger.engine.atomic(partial(self._delete_unconfirmed, projects, resource_id))

    def _delete_unconfirmed(self, projects: Collection[str], resource_id: int) -> None:
        engine, now = self.ledger.engine, self.ledger.now()
        lock_resources(engine, [resource_id])  # and nothing is confirmed before it is deleted
        unconfirmed = [each for each in self._unconfirmed(projects) if each.resource_id == resource_id]
        deleted = [each for each in unconfirmed if advance(each, now).is_live]
        queries.delete(engine, [each.id for each in deleted])
        self.ledger.record([*(Change("deleted", each) for each in deleted), *self.ledger.settle(resource_id, now)], now)

    def _unconfirmed(self, projects: Collection[str]) -> list[Commitment]:
        return queries.unconfirmed_of(self.ledger.engine, sorted(projects))

    def run(self) -> None:
        """The job: does all that is due, in one transaction for each resource. Several may run it at once."""
        engine = self.ledger.engine
        now = self.ledger.now()
        for resource_id in engine.snapshot(lambda: queries.unsettled_resources(engine, now)):
            engine.atomic(partial(self._settle, resource_id))
        while engine.atomic(lambda: self._forget(now - self.retention)):
            pass  # what was made of others goes first, and then these

    def _settle(self, resource_id: int) -> None:
        now = self.ledger.now()
        self.ledger.record(self.ledger.lock([resource_id], now), now)

    def _forget(self, before: float) -> int:
        ended = queries.ended_before(self.ledger.engine, before, _BATCH)
        queries.delete(self.ledger.engine, ended)
        queries.forget_keys_before(self.ledger.engine, before)
        return len(ended)


def settlement(limes: Limes) -> SettleCommitments:
    """Returns the use cases."""
    ledger = Ledger(limes.engine, limes.catalog, limes.clock, limes.ids, limes.change_log)
    return SettleCommitments(ledger, limes.settings.commitments.retention)
