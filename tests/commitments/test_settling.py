"""What happens to commitments by themselves: capacity arrives, time passes, and the ended ones are forgotten."""

from collections.abc import Callable

import pytest

from tests.collector.lab import Lab
from tests.commitments.in_lab import add, capacity, events, make_committed, states
from tests.support.rows import all_rows, changes


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """Berlin uses 10 cores in az-one."""
    lab = make_committed(make_lab, berlin={"az-one": 10})
    capacity(lab, 0)
    return lab


def test_a_scrape_of_capacity_confirms_in_order(lab: Lab) -> None:
    add(lab, 1, 60, project="dresden")
    add(lab, 2, 50)
    add(lab, 3, 15)
    add(lab, 4, 5, az="az-two")
    add(lab, 5, 1, az="az-two")
    before = all_rows(lab.engine)
    capacity(lab, 80)
    assert states(lab) == {1: "confirmed", 2: "pending", 3: "confirmed", 4: "confirmed", 5: "pending"}
    assert {"project_commitments", "commitment_events"} < set(changes(before, all_rows(lab.engine)))
    assert events(lab) == [
        *[("pending", number) for number in (1, 2, 3, 4, 5)],
        ("confirmed", 1),
        ("confirmed", 3),
        ("confirmed", 4),
    ]
    confirmed = lab.rows("SELECT DISTINCT confirmed_at FROM project_commitments WHERE status = 'confirmed'")
    assert confirmed == [(lab.now,)]


def test_what_expires_makes_room(lab: Lab) -> None:
    capacity(lab, 80)
    add(lab, 1, 70, project="dresden", status="confirmed", expires_at=lab.now + 100)
    add(lab, 2, 20)
    lab.settle_commitments()
    assert states(lab) == {1: "confirmed", 2: "pending"}
    lab.clock.advance(100)
    lab.settle_commitments()
    assert states(lab) == {1: "expired", 2: "confirmed"}
    before = all_rows(lab.engine)
    lab.settle_commitments()
    assert changes(before, all_rows(lab.engine)) == {}


def test_a_resource_without_a_capacitor_goes_on_as_well(lab: Lab) -> None:
    lab.execute("DELETE FROM az_resources")
    add(lab, 1, 1, status="confirmed", expires_at=lab.now + 1)
    add(lab, 2, 1, project="paris", expires_at=lab.now + 2)
    lab.clock.advance(1)
    lab.settle_commitments()
    assert states(lab) == {1: "expired", 2: "pending"}
    lab.clock.advance(1)
    lab.settle_commitments()
    assert states(lab) == {1: "expired", 2: "expired"}


def test_ended_ones_are_forgotten_but_not_their_events(lab: Lab) -> None:
    add(lab, 1, 1, status="confirmed", expires_at=lab.now + 10)
    add(lab, 2, 1, status="superseded")
    add(lab, 3, 1, status="confirmed")
    lab.clock.advance(10)
    lab.settle_commitments()
    assert states(lab) == {1: "expired", 2: "superseded", 3: "confirmed"}
    lab.clock.advance(lab.limes.settings.commitments.retention - 10)
    lab.settle_commitments()
    assert states(lab) == {1: "expired", 2: "superseded", 3: "confirmed"}
    lab.clock.advance(5)
    lab.settle_commitments()
    assert states(lab) == {1: "expired", 3: "confirmed"}
    lab.clock.advance(6)
    lab.settle_commitments()
    assert states(lab) == {3: "confirmed"}
    assert events(lab) == [("expired", 1)]
