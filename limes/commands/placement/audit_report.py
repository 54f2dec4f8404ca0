"""An audit's findings for people and for programs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import orjson

from limes.placement.audit import Findings


class Outcome(StrEnum):
    """What became of a consumer that should not be there."""

    DELETABLE = "deletable"
    DELETED = "deleted"
    CHANGED = "left alone, for it has changed meanwhile"


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, and what became of the consumers in it, by UUID."""

    found: Findings
    outcomes: Mapping[str, Outcome]

    @property
    def left(self) -> int:
        """How many findings are still there."""
        return len(self.found.excesses) + sum(1 for one in self.outcomes.values() if one is not Outcome.DELETED)


def as_json(report: Report) -> str:
    """`{"orphans": [...], "idle": [...], "excesses": [...], "left": N}`; consumers with their `outcome`."""
    found, outcomes = report.found, report.outcomes
    document: dict[str, Any] = {
        "orphans": [asdict(one) | {"outcome": outcomes[one.uuid]} for one in found.orphans],
        "idle": [{"uuid": uuid, "outcome": outcomes[uuid]} for uuid in found.idle],
        "excesses": [asdict(one) for one in found.excesses],
        "left": report.left,
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def as_text(report: Report) -> str:
    """A table for each kind of finding that there is, and one line that counts them all."""
    found, outcomes = report.found, report.outcomes
    lines: list[str] = []
    if found.orphans:
        lines += _table(
            "Consumers of vanished projects",
            ("CONSUMER", "TYPE", "PROJECT", "RESOURCES", "OUTCOME"),
            [
                (one.uuid, one.consumer_type or "unknown", one.project_id, _amounts(one.resources), outcomes[one.uuid])
                for one in found.orphans
            ],
        )
    if found.idle:
        rows = [(uuid, outcomes[uuid]) for uuid in found.idle]
        lines += _table("Consumers without allocations", ("CONSUMER", "OUTCOME"), rows)
    if found.excesses:
        lines += _table(
            "Inventories over capacity",
            ("PROVIDER", "NAME", "CLASS", "USED", "CAPACITY"),
            [
                (one.provider_uuid, one.provider_name, one.class_name, str(one.used), str(one.capacity))
                for one in found.excesses
            ],
        )
    projects = len({one.project_id for one in found.orphans})
    lines.append(
        f"{len(found.orphans)} consumers of {projects} vanished projects, {len(found.idle)} consumers without"
        f" allocations, {len(found.excesses)} inventories over capacity; {report.left} left."
    )
    return "\n".join(lines)


def _amounts(resources: Mapping[str, int]) -> str:
    return ", ".join(f"{amount} {name}" for name, amount in resources.items())


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as their widest cell, and an empty line at the end."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    yield f"{title}:"
    for row in (head, *rows):
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield ""
