"""What happens to commitments by themselves: they expire, get their capacity in turn, and are forgotten in the end."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from limes.actions.commitments.ledger import Ledger
from limes.db.queries import commitment_keys
from limes.db.queries import commitments as queries

_BATCH = 500


@dataclass(frozen=True, slots=True)
class SettleCommitments:
    """The use case. Commitments are forgotten `retention` seconds after their end; their events stay."""

    ledger: Ledger
    retention: float = 30 * 86400.0

    def locked(self, resources: Iterable[int]) -> None:
        """For resources that the present transaction has locked, after their capacity has changed. Its last deed."""
        now = self.ledger.now()
        self.ledger.record([change for id_ in sorted(resources) for change in self.ledger.settle(id_, now)], now)

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
