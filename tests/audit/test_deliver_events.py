"""Audit events reach their sink at least once and in order, whatever the sink does."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Never

import pytest
from msgspec import structs

from limes.audit import outbox
from limes.audit.settings import AuditSettings
from limes.audit.sinks import Delivery
from limes.collector.loop import Job, counted
from limes.notifications.deliver import DeliverEvents
from limes.notifications.metrics import AuditCounters
from limes.quota.change_log import forget_history
from tests.collector.lab import Lab
from tests.support.limes import with_values


@dataclass
class FakeSink:
    """Takes what it is not told to refuse, as the contract says."""

    name: str = "log"
    got: list[str] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)
    error: str | None = None
    breaks_after: int | None = None
    during: object = None

    def deliver(self, events: Any) -> Delivery:
        if self.error and self.breaks_after is None:
            return Delivery(error=self.error)
        delivered, refused, blocked = [], {}, set()
        for event in events:
            if self.breaks_after is not None and len(delivered) == self.breaks_after:
                return Delivery(delivered, refused, self.error)
            if event.stream in blocked:
                continue
            if event.document in self.refuses:
                refused[event.number] = "not that one"
                blocked.add(event.stream)
            else:
                self.got.append(event.document)
                delivered.append(event.number)
        if self.during:
            self.during()
        return Delivery(delivered, refused)


@pytest.fixture
def sink() -> FakeSink:
    return FakeSink()


@pytest.fixture
def deliver(lab: Lab, sink: FakeSink) -> DeliverEvents:
    section = AuditSettings(retry=10, retry_max=35, delivered_retention=1000)
    return DeliverEvents(lab.limes, sink, section)


def write(lab: Lab, *events: str, sink: str = "log") -> None:
    """Events as `stream:text`."""
    rows = [(lab.now, sink, one.partition(":")[0], f"id of {one}", one) for one in events]
    lab.engine.atomic(lambda: outbox.append(lab.engine, rows))


def waiting(lab: Lab) -> list[Any]:
    return [row[0] for row in lab.rows("SELECT document FROM audit_outbox WHERE delivered_at IS NULL ORDER BY number")]


def state(lab: Lab) -> tuple[Any, ...]:
    return lab.rows("SELECT next_run_at, error FROM jobs WHERE name = 'audit:log'")[0]


def test_in_order_and_once(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    events = [f"{stream}:{n}" for n in range(130) for stream in ("berlin", "paris")]
    write(lab, *events)
    outcome = deliver.run_if_due()
    assert (outcome.delivered, outcome.refused, outcome.failed) == (260, 0, False)
    assert sink.got == events
    assert deliver.run_if_due() is None, "not yet"
    lab.clock.advance(5)
    assert deliver.run_if_due().delivered == 0
    assert (sink.got, waiting(lab)) == (events, [])


def test_each_sink_has_its_own(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    write(lab, "berlin:1")
    write(lab, "berlin:1", sink="rabbitmq")
    deliver.run_if_due()
    assert sink.got == ["berlin:1"]
    assert waiting(lab) == ["berlin:1"]


def test_a_refused_event_holds_up_its_own_stream_only(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    sink.refuses = {"berlin:2"}
    write(lab, "berlin:1", "berlin:2", "paris:1", "berlin:3", "paris:2")
    outcome = deliver.run_if_due()
    assert (outcome.delivered, outcome.refused, outcome.failed) == (3, 1, False)
    assert (sink.got, waiting(lab)) == (["berlin:1", "paris:1", "paris:2"], ["berlin:2", "berlin:3"])
    assert lab.rows("SELECT tries, next_try_at, error FROM audit_outbox WHERE document = 'berlin:2'") == [
        (1, lab.now + 10, "not that one")
    ]
    lab.clock.advance(5)
    write(lab, "berlin:4", "paris:3")
    deliver.run_if_due()
    assert sink.got[3:] == ["paris:3"]
    lab.clock.advance(5)
    sink.refuses = set()
    deliver.run_if_due()
    assert sink.got[4:] == ["berlin:2", "berlin:3", "berlin:4"]
    assert waiting(lab) == []


def test_pauses_grow_to_a_bound(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    sink.error = "broker is down"
    write(lab, "berlin:1")
    pauses = []
    for _ in range(5):
        assert deliver.run_if_due().failed
        next_run_at, error = state(lab)
        assert error == "broker is down"
        pauses.append(next_run_at - lab.now)
        lab.clock.advance(pauses[-1])
    assert pauses == [10, 20, 35, 35, 35]
    sink.error = None
    assert deliver.run_if_due().delivered == 1
    assert state(lab) == (lab.now + 5, "")
    lab.clock.advance(5)
    sink.error = "broker is down"
    write(lab, "berlin:2")
    deliver.run_if_due()
    assert state(lab)[0] - lab.now == 10


def test_a_sink_that_breaks_in_the_middle(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    sink.error, sink.breaks_after = "connection reset", 2
    write(lab, "berlin:1", "berlin:2", "berlin:3")
    outcome = deliver.run_if_due()
    assert (outcome.delivered, outcome.failed, waiting(lab)) == (2, True, ["berlin:3"])
    sink.error = sink.breaks_after = None
    lab.clock.advance(10)
    deliver.run_if_due()
    assert sink.got == ["berlin:1", "berlin:2", "berlin:3"]


def test_one_collector_at_a_time(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    other = structs.replace(deliver)
    seen = []
    sink.during = lambda: seen.append(other.run_if_due())
    write(lab, "berlin:1")
    deliver.run_if_due()
    assert (sink.got, seen) == (["berlin:1"], [None])


def test_a_collector_that_dies_costs_a_repetition(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    class Killed(BaseException):
        pass

    def die() -> Never:
        raise Killed

    sink.during = die
    write(lab, "berlin:1")
    with pytest.raises(Killed):
        deliver.run_if_due()
    sink.during = None
    assert structs.replace(deliver).run_if_due() is None, "the lease of the dead one"
    lab.clock.advance(deliver.limes.lease)
    assert structs.replace(deliver).run_if_due().delivered == 1
    assert sink.got == ["berlin:1", "berlin:1"]


def test_events_are_forgotten_some_time_after_their_delivery(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    sink.refuses = {"paris:1"}
    write(lab, "berlin:1", "paris:1")
    deliver.run_if_due()
    lab.clock.advance(999)
    deliver.run_if_due()
    assert len(lab.rows("SELECT number FROM audit_outbox")) == 2
    lab.clock.advance(36)
    deliver.run_if_due()
    assert lab.rows("SELECT document FROM audit_outbox") == [("paris:1",)], "what was not delivered is kept"


def test_a_sink_that_does_nothing_cannot_make_the_collector_spin(
    lab: Lab, sink: FakeSink, deliver: DeliverEvents
) -> None:
    from limes.kernel.errors import Unavailable

    class Idle(FakeSink):
        def deliver(self, events: Any) -> Delivery:
            return Delivery()

    write(lab, "berlin:1")
    with pytest.raises(Unavailable, match="took nothing"):
        structs.replace(deliver, sink=Idle()).run_if_due()


def test_metrics(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    counters = AuditCounters(["log"])
    job = Job(deliver.name, counted(deliver.run_if_due, partial(counters.count, "log")))
    sink.refuses = {"berlin:2"}
    write(lab, "berlin:1", "berlin:2", "berlin:3")
    assert (job.name, job.step(), job.step()) == ("audit:log", True, False)
    assert {family.name: family.samples[0].value for family in counters.collect()} == {
        "limes_successful_auditevent_publish": 1,
        "limes_failed_auditevent_publish": 1,
    }


def test_old_history_is_forgotten(lab: Lab) -> None:
    for age in (300, 200, 100):
        lab.execute(
            "INSERT INTO quota_history (at, domain_uuid, project_uuid, service_type, resource_name, what, old, new,"
            " reason, detail, initiator_id, initiator_name, request_id)"
            " VALUES (%s, 'd', 'p', 's', 'r', 'quota', 1, 2, 'request', '', 'u', 'n', 'req')",
            lab.now - age,
        )
    limes = lab.limes
    limes = structs.replace(limes, settings=with_values(limes.settings, {"audit.history_retention": 150.0}))
    forget_history(limes)
    forget_history(limes)
    assert lab.rows("SELECT at FROM quota_history") == [(lab.now - 100,)]


def test_a_clock_that_was_wrong_stops_nothing(lab: Lab, sink: FakeSink, deliver: DeliverEvents) -> None:
    sink.refuses = {"berlin:1"}
    write(lab, "berlin:1")
    lab.clock.advance(400 * 86400)
    deliver.run_if_due()
    lab.clock.advance(-400 * 86400)
    sink.refuses = set()
    assert deliver.run_if_due().delivered == 1
