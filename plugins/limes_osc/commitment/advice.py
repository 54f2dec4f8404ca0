"""What a plan says: when a commitment could be confirmed, what has to end before, and what would work instead."""

from typing import Any

from cliff.columns import FormattableColumn

from limes.core.units import Unit
from limes_osc.amounts import Amount, exact, unit_of
from limes_osc.client import Json
from limes_osc.columns import Columns, amount, at
from limes_osc.commitment.wanted import Wanted
from limes_osc.times import Moment, iso_after


class Blockers(FormattableColumn[list[dict[str, Any]]]):
    """What has to end before: `60 in az-one until 2026-01-01 00:00:00 UTC`; for programs a list of objects."""

    def __init__(self, blockers: list[Json], unit: Unit, wanted: Unit | None) -> None:
        self._rows = [
            (Amount(blocker["amount"], unit, wanted), blocker["availability_zone"], Moment(blocker["expires_at"]))
            for blocker in blockers
        ]
        super().__init__(
            [
                {"amount": amount.machine_readable(), "availability_zone": zone, "expires_at": end.machine_readable()}
                for amount, zone, end in self._rows
            ]
        )

    def human_readable(self) -> str:
        return "\n".join(
            f"{amount.human_readable()} in {zone} until {end.to_the_second()}" for amount, zone, end in self._rows
        )


def first_clause(reason: str) -> str:
    """Returns why something was refused, without what would work, which `advise` says with units that suit people."""
    return reason.partition("; ")[0]


def advise(plan: Json, wanted: Wanted) -> str:
    """Returns what would work instead, in lines. `plan` is a plan, or an answer to can-confirm."""
    lines, now, start = [], plan["confirmable_now"], plan.get("confirmable_at")
    if 0 < now < wanted.amount:
        lines.append(f"- {exact(now, wanted.unit)} can be confirmed at once")
    if start is not None:
        lines.append(f"- all of it from {Moment(start).in_full()}: plan it with --confirm-by {iso_after(start)}")
    else:
        missing = f" ({exact(plan['missing_capacity'], wanted.unit)} missing)" if "missing_capacity" in plan else ""
        lines.append(f"- all of it, once there is more capacity{missing}: with --confirm-by <time> it waits for that")
    if plan.get("blocked_by"):
        lines.append("- openstack limes commitment plan shows which commitments have to end before")
    return "\n".join(["What would work:", *lines])


PLAN = Columns(
    {
        "Confirmable Now": amount("confirmable_now", exactly=True),
        "Confirmable At": at("confirmable_at"),
        "Missing Capacity": amount("missing_capacity", exactly=True),
        "Used In Unknown Zones": amount("unplaced_usage", exactly=True),
        "Blocked By": lambda plan, wanted: Blockers(plan["blocked_by"], unit_of(plan), wanted),
    }
)
"""The fields of a plan, which has the unit of its resource."""
