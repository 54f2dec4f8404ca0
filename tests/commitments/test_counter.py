"""The metric that counts changes of commitments: every process shows the whole history, and reads only what is new."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.commitments import events as commitment_events
from limes.commitments.metrics import CommitmentChanges
from limes.db.engine import Engine
from limes.kernel.errors import Unavailable
from tests.collector.lab import Lab
from tests.commitments.in_lab import add, capacity, make_committed


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_committed(make_lab, berlin={"az-one": 1})


def counts(source: CommitmentChanges) -> dict[str, float]:
    (family,) = source.collect()
    assert {sample.name for sample in family.samples} == {"limes_commitment_changes_total"}
    return {sample.labels["event"]: sample.value for sample in family.samples}


def test_changes_are_counted_once_and_by_each_process_alike(lab: Lab) -> None:
    first = CommitmentChanges(lab.limes)
    assert counts(first) == {"created": 0, "confirmed": 0, "expired": 0}
    add(lab, 1, 60)
    add(lab, 2, 50)
    capacity(lab, 80)
    seen = {"created": 0, "pending": 2, "confirmed": 1, "expired": 0}
    assert counts(first) == seen
    assert counts(first) == seen
    capacity(lab, 800)
    seen["confirmed"] = 2
    assert counts(first) == seen
    assert counts(CommitmentChanges(lab.limes)) == seen


def test_a_long_history_is_counted_in_pieces(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        add(lab, number, 1)
    capacity(lab, 80)
    expected = counts(CommitmentChanges(lab.limes))
    assert (expected["pending"], expected["confirmed"]) == (5, 5)
    monkeypatch.setattr("limes.commitments.metrics._PIECE", 3)
    source = CommitmentChanges(lab.limes)
    assert counts(source) == counts(source) == expected


def test_without_an_answer_there_is_none(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is counted twice after a failure in the middle."""
    for number in range(5):
        add(lab, number, 1)
    capacity(lab, 80)
    expected = counts(CommitmentChanges(lab.limes))
    monkeypatch.setattr("limes.commitments.metrics._PIECE", 3)
    source, pieces = CommitmentChanges(lab.limes), []

    def fail_in_the_middle(engine: Engine, after: int, until: int) -> Any:
        pieces.append(after)
        if len(pieces) == 2:
            raise Unavailable("the database does not answer")
        return count_between(engine, after, until)

    count_between = commitment_events.count_between
    monkeypatch.setattr(commitment_events, "count_between", fail_in_the_middle)
    assert list(source.collect()) == []
    assert counts(source) == expected
