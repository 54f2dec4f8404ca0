"""Writes down each change, in the change's own transaction: into the history of quotas, and as events for the audit.

Invariant: a change and what is written about it are committed together, or not at all. Every use case that changes a
quota, bursting or a commitment calls this before its transaction ends. It costs one statement for the history and one
for the events, whatever the number of changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from limes.audit import events
from limes.audit.cadf import Event, Scope, render
from limes.audit.events import CommitmentStep
from limes.audit.initiator import LIMES, Initiator
from limes.core.catalog import Ref
from limes.core.history import QuotaStep, Reason, What
from limes.core.units import Unit
from limes.db.engine import Engine
from limes.db.queries import history, outbox
from limes.system import Clock, IdSource


@dataclass(frozen=True, slots=True)
class RefusedQuota:
    """A quota that was asked for and not given. Amounts are in the unit; None where there is none."""

    ref: Ref
    unit: Unit
    old: int | None
    new: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Trail:
    """Everything here is to be called inside the transaction of the change."""

    engine: Engine
    clock: Clock
    ids: IdSource
    sinks: tuple[str, ...] = ()
    """Where events go to. Without any, only the history is written."""
    observer: str = "limes"
    """The id of this process in the events."""
    initiator: Initiator = LIMES
    """Who makes the changes."""

    def by(self, initiator: Initiator) -> "Trail":
        """The same trail for changes that `initiator` makes."""
        return replace(self, initiator=initiator)

    @property
    def has_sinks(self) -> bool:
        """Whether anybody is there to be told of events."""
        return bool(self.sinks)

    def quotas(self, scope: Scope, steps: Sequence[QuotaStep]) -> None:
        """Quotas have changed. What only brings a backend back into line is history, but no event."""
        if not steps:
            return
        who, now = self.initiator, self.clock.now().timestamp()
        history.append(self.engine, [_row(scope, step, who, now) for step in steps])
        changed = [step for step in steps if step.what is What.QUOTA]
        self._emit([events.quota_changed(scope, step, who) for step in changed])

    def refused(self, scope: Scope, attempts: Sequence[RefusedQuota]) -> None:
        """A request for quotas was refused as a whole."""
        who = self.initiator
        self._emit(
            [events.quota_refused(scope, one.ref, one.unit, one.old, one.new, one.message, who) for one in attempts]
        )

    def bursting(self, scope: Scope, enabled: bool) -> None:
        """Bursting was switched."""
        who, now = self.initiator, self.clock.now().timestamp()
        step = QuotaStep(("", ""), Unit.COUNT, int(not enabled), int(enabled), Reason.REQUEST, what=What.BURSTING)
        history.append(self.engine, [_row(scope, step, who, now)])
        self._emit([events.bursting_changed(scope, enabled, who)])

    def bursting_refused(self, scope: Scope, enabled: bool, message: str) -> None:
        """Bursting was not switched."""
        self._emit([events.bursting_refused(scope, enabled, message, self.initiator)])

    def commitments(self, steps: Sequence[CommitmentStep]) -> None:
        """Commitments have changed. Their history is kept elsewhere (`limes.db.queries.commitment_events`)."""
        who = self.initiator
        self._emit([events.commitment_changed(step, who) for step in steps])

    def _emit(self, found: Sequence[Event]) -> None:
        if not self.sinks or not found:
            return
        now = self.clock.now().timestamp()
        rows = []
        for event in found:
            event_id = self.ids.uuid()
            document = render(event, event_id, now, self.observer)
            rows += [(now, sink, event.scope.stream, event_id, document) for sink in self.sinks]
        outbox.append(self.engine, rows)


def _row(scope: Scope, step: QuotaStep, who: Initiator, now: float) -> history.HistoryRow:
    return history.HistoryRow(
        now,
        scope.domain_uuid,
        scope.project_uuid,
        *step.ref,
        step.what.value,
        step.old,
        step.new,
        step.reason.value,
        step.detail,
        who.id,
        who.name,
        who.request_id,
    )
