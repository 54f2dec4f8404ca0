"""What happens to commitments by themselves: they expire, get their capacity in turn, and are forgotten in the end."""

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial

from limes.actions.commitments.ledger import Change, Ledger
from limes.audit.initiator import Initiator
from limes.core.commitments.commitment import Commitment, advance
from limes.db.queries import commitment_keys
from limes.db.queries import commitments as queries
from limes.db.queries.capacity import lock_resources
from limes.errors import LimesError

log = logging.getLogger(__name__)

_BATCH = 500


@dataclass(frozen=True, slots=True)
class SettleCommitments:
    """The use case. Commitments are forgotten `retention` seconds after their end; their events stay."""

    ledger: Ledger
    retention: float = 30 * 86400.0

    def by(self, initiator: Initiator) -> "SettleCommitments":
        """The same use case for changes that `initiator` makes."""
        return replace(self, ledger=self.ledger.by(initiator))

    def locked(self, resources: Iterable[int]) -> None:
        """For resources that the present transaction has locked, after their capacity has changed. Its last deed."""
        now = self.ledger.now()
        self.ledger.record([change for id_ in sorted(resources) for change in self.ledger.settle(id_, now)], now)

    def freed(self, resources: Collection[int] | None = None) -> None:
        """After a commit that has freed capacity of these resources (by id), or None: who knows of which.

        What is freed in one AZ may help those that wait in another: all AZs share what is left overall. One statement
        where nobody waits for these resources. Not to be called inside a transaction: the caller's locks would be
        taken in the wrong order. What goes wrong here is only logged, since `run` does the same later.
        """
        try:
            waiting = queries.waiting_resources(self.ledger.engine)
            for id_ in sorted(waiting if resources is None else waiting.intersection(resources)):
                self.ledger.engine.atomic(partial(self._settle, id_))
        except LimesError as error:
            log.warning("commitments that wait for capacity have to wait for the next run of the job: %s", error)

    def forsake(self, projects: Collection[str]) -> None:
        """Deletes what is not confirmed of projects (by UUID) that have vanished: nobody is there to use it."""
        for resource_id in {one.resource_id for one in self._unconfirmed(projects)}:
            self.ledger.engine.atomic(partial(self._forsake, projects, resource_id))

    def _forsake(self, projects: Collection[str], resource_id: int) -> None:
        engine, now = self.ledger.engine, self.ledger.now()
        lock_resources(engine, [resource_id])  # and nothing is confirmed before it is deleted
        found = [one for one in self._unconfirmed(projects) if one.resource_id == resource_id]
        left = [one for one in found if advance(one, now).is_live]
        queries.delete(engine, [one.id for one in left])
        self.ledger.record([*(Change("deleted", one) for one in left), *self.ledger.settle(resource_id, now)], now)

    def _unconfirmed(self, projects: Collection[str]) -> list[Commitment]:
        return queries.unconfirmed_of(self.ledger.engine, sorted(projects))

    def run(self) -> None:
        """The job: everything that is due, one transaction for each resource. May be done by several at once."""
        engine = self.ledger.engine
        now = self.ledger.now()
        for resource_id in engine.snapshot(lambda: queries.unsettled_resources(engine, now)):
            engine.atomic(partial(self._settle, resource_id))
        while engine.atomic(lambda: self._forget(now - self.retention)) == _BATCH:
            pass

    def _settle(self, resource_id: int) -> None:
        now = self.ledger.now()
        self.ledger.record(self.ledger.lock([resource_id], now), now)

    def _forget(self, before: float) -> int:
        ended = queries.ended_before(self.ledger.engine, before, _BATCH)
        queries.delete(self.ledger.engine, ended)
        commitment_keys.forget_before(self.ledger.engine, before)
        return len(ended)
