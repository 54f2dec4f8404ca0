"""Commitments that renew themselves: who says so, and the job that does it.

A commitment is renewed once: its renewal takes over the wish. If no collector runs until its end, it is renewed when it
is settled (`Ledger.settle`); others may have taken the capacity by then.
"""

import logging
from dataclasses import dataclass, replace
from functools import partial

from limes.actions.commitments.ledger import RENEWAL_ERRORS, Change, Described, LedgerUser
from limes.actions.lookup import find_project
from limes.audit.initiator import Initiator
from limes.core.commitments.reshaping import renewed_at, without_renewal
from limes.core.commitments.rules import CommitmentRules
from limes.db.queries import commitments as queries
from limes.db.transactions import atomic

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RenewAutomatically(LedgerUser):
    rules: CommitmentRules

    def by(self, initiator: Initiator) -> "RenewAutomatically":
        """Returns the same use case for changes that `initiator` makes."""
        return replace(self, ledger=self.ledger.by(initiator))

    @atomic
    def switch(self, domain_uuid: str, project_uuid: str, id_: int, initiator: Initiator, *, on: bool) -> Described:
        """Says whether a live commitment is to be renewed by itself. Raises `NotFound`, and `Conflict` for one that was
        renewed already."""
        ledger = self.ledger.by(initiator)
        now = ledger.now()
        project = find_project(ledger.engine, domain_uuid, project_uuid)
        commitment, changes = ledger.lock_commitment(project.id, id_, now)
        queries.require_not_renewed(ledger.engine, commitment, ", which inherits auto_renew: change that one")
        wanted = replace(commitment, auto_renews=True) if on else without_renewal(commitment)
        if wanted.auto_renews != commitment.auto_renews:
            queries.update(ledger.engine, wanted)
            changes.append(Change("auto_renewal_changed", wanted))
        ledger.record(changes, now)
        return ledger.add_description(wanted)

    def run(self) -> None:
        """The job: renews all that is due, in one transaction for each resource. Several may run it at once."""
        engine, before = self.ledger.engine, self._before()
        for resource_id in engine.snapshot(lambda: queries.renewing_resources(engine, before)):
            engine.atomic(partial(self._renew, resource_id))

    def _before(self) -> float:
        return self.ledger.now() + min(self.rules.auto_renewal_lead, self.rules.renewal_window)

    def _renew(self, resource_id: int) -> None:
        ledger, now = self.ledger, self.ledger.now()
        changes = ledger.lock([resource_id], now)
        window, lead = self.rules.renewal_window, self.rules.auto_renewal_lead
        for commitment in queries.renewing(ledger.engine, resource_id, self._before()):
            if now < renewed_at(commitment, window, lead):
                continue
            try:
                changes.append(ledger.renew(commitment, now, window))
            except RENEWAL_ERRORS as error:
                if str(error) != commitment.renewal_error:
                    queries.update(ledger.engine, replace(commitment, renewal_error=str(error)))
                    text = "commitment %d is not renewed, which is tried again until it ends: %s"
                    ledger.engine.after_commit(partial(log.warning, text, commitment.id, error))
        ledger.record(changes, now)
