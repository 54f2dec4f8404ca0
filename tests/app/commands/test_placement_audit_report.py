"""What an audit prints."""

import io
import json

from rich.console import Console

from limes.app.commands.placement_audit import RepairStatus, Report, as_json, print_report
from limes.placement.audit import Excess, Findings, Orphan

UUID = "f0000000-0000-4000-8000-00000000000"
PROJECT, OTHER = "1a0000000000000000000000000000ff", "2b0000000000000000000000000000ff"
ORPHANS = (
    Orphan(f"{UUID}1", PROJECT, "INSTANCE", {"VCPU": 2, "MEMORY_MB": 65536}),
    Orphan(f"{UUID}2", OTHER, None, {"VCPU": 1}),
    Orphan(f"{UUID}3", PROJECT, "MIGRATION", {"VCPU": 4}),
)
FINDINGS = Findings(ORPHANS, (Excess("r1", "compute-1.az-one", "VCPU", 5, 4),), (f"{UUID}4",))
OUTCOMES = {
    f"{UUID}1": RepairStatus.DELETED,
    f"{UUID}2": RepairStatus.CHANGED,
    f"{UUID}3": RepairStatus.DELETED,
    f"{UUID}4": RepairStatus.DELETED,
}
REPORT = Report(FINDINGS, OUTCOMES)


def printed(report: Report, width: int = 80) -> list[str]:
    out = io.StringIO()
    print_report(Console(file=out, width=width, markup=False, highlight=False), report)
    return [line.rstrip() for line in out.getvalue().splitlines() if line.strip() and "──" not in line]


def test_tables() -> None:
    assert [line.split() for line in printed(REPORT, 110)] == [
        line.split()
        for line in (
            f"Consumers of the vanished project {PROJECT}",
            "Consumer                               Type        Resources         Outcome",
            f"{UUID}1  INSTANCE    2 VCPU            deleted",
            "                                                   65536 MEMORY_MB",
            f"{UUID}3  MIGRATION   4 VCPU            deleted",
            f"Consumers of the vanished project {OTHER}",
            "Consumer                               Type        Resources         Outcome",
            f"{UUID}2  unknown     1 VCPU            left alone:",
            "                                                                     it has changed",
            "Consumers without allocations",
            "Consumer                               Outcome",
            f"{UUID}4  deleted",
            "Inventories over capacity",
            "Provider           Class   Used   Capacity",
            "compute-1.az-one   VCPU       5          4",
            "3 consumers of 2 vanished projects, 1 consumer without allocations, 1 inventory over capacity; 2 left.",
        )
    ]


def test_tables_fit_80_columns() -> None:
    """Nothing of a UUID is in another line."""
    lines = printed(REPORT)
    assert max(map(len, lines)) <= 80
    assert sum(UUID in line for line in lines) == 4


def test_json() -> None:
    document = json.loads(as_json(REPORT))
    assert [one["outcome"] for one in document["orphans"]] == [
        "deleted",
        "left alone, as it has changed in the meantime",
        "deleted",
    ]
    assert document["orphans"][0]["resources"] == {"VCPU": 2, "MEMORY_MB": 65536}
    assert document["idle"] == [{"uuid": f"{UUID}4", "outcome": "deleted"}]
    assert document["excesses"][0]["capacity"] == 4
    assert document["left"] == 2


def test_nothing_found() -> None:
    report = Report(Findings((), (), ()), {})
    text = "0 consumers of 0 vanished projects, 0 consumers without allocations, 0 inventories over capacity; 0 left."
    assert printed(report, 200) == [text]
    assert report.left == 0
