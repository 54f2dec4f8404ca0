"""What an audit prints."""

import json

from limes.commands.placement_audit import Outcome, Report, as_json, as_text
from limes.placement.audit import Excess, Findings, Orphan

ORPHANS = (Orphan("c1", "p", "INSTANCE", {"VCPU": 2, "MEMORY_MB": 64}), Orphan("c22", "p", None, {"VCPU": 1}))
FINDINGS = Findings(ORPHANS, (Excess("r1", "node", "VCPU", 5, 4),), ("c3",))
REPORT = Report(FINDINGS, {"c1": Outcome.DELETED, "c22": Outcome.CHANGED, "c3": Outcome.DELETED})


def test_tables() -> None:
    assert as_text(REPORT).splitlines() == [
        "Consumers of vanished projects:",
        "  CONSUMER  TYPE      PROJECT  RESOURCES             OUTCOME",
        "  c1        INSTANCE  p        2 VCPU, 64 MEMORY_MB  deleted",
        "  c22       unknown   p        1 VCPU                left alone, for it has changed meanwhile",
        "",
        "Consumers without allocations:",
        "  CONSUMER  OUTCOME",
        "  c3        deleted",
        "",
        "Inventories over capacity:",
        "  PROVIDER  NAME  CLASS  USED  CAPACITY",
        "  r1        node  VCPU   5     4",
        "",
        "2 consumers of 1 vanished projects, 1 consumers without allocations, 1 inventories over capacity; 2 left.",
    ]


def test_json() -> None:
    document = json.loads(as_json(REPORT))
    assert [one["outcome"] for one in document["orphans"]] == ["deleted", "left alone, for it has changed meanwhile"]
    assert document["orphans"][0]["resources"] == {"VCPU": 2, "MEMORY_MB": 64}
    assert document["idle"] == [{"uuid": "c3", "outcome": "deleted"}]
    assert document["excesses"][0]["capacity"] == 4
    assert document["left"] == 2


def test_nothing_found() -> None:
    report = Report(Findings((), (), ()), {})
    assert as_text(report) == (
        "0 consumers of 0 vanished projects, 0 consumers without allocations, 0 inventories over capacity; 0 left."
    )
    assert report.left == 0
