"""The metric that counts changes of commitments: every process shows the whole history, and reads only what is new."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import AZUsage
from limes.errors import Unavailable
from limes.metrics.commitments import CommitmentChanges
from tests.collector.commitments import RULE, add, capacity
from tests.collector.lab import Lab


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """Cores are committed by AZ; there are none yet."""
    lab = make_lab(catalog_options={"behaviors": [RULE]})
    lab.compute.usage = {"berlin": {"cores": {"az-one": AZUsage(1)}}}
    lab.discover().run()
    lab.scrape_all()
    return lab


def counts(source: CommitmentChanges) -> dict[str, float]:
    (family,) = source.collect()
    assert {sample.name for sample in family.samples} == {"limes_commitment_changes_total"}
    return {sample.labels["event"]: sample.value for sample in family.samples}


def test_changes_are_counted_once_and_by_each_process_alike(lab: Lab) -> None:
    first = CommitmentChanges(lab.engine)
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
    assert counts(CommitmentChanges(lab.engine)) == seen


def test_without_an_answer_there_is_none(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    source = CommitmentChanges(lab.engine)

    def fail(work: Any) -> None:
        raise Unavailable("the database does not answer")

    monkeypatch.setattr(type(lab.engine), "snapshot", lambda engine, work: fail(work))
    assert list(source.collect()) == []
