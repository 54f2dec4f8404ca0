"""What bounds a quota that follows usage, what is demanded of it, and how that is put into words."""

from typing import Any

import pytest

from limes.autogrow.advice import AutogrowBounds, BoundSource, describe_allocation, find_bounds
from limes.autogrow.rules import Demand, ProjectBounds, ProjectDemand, demand_by_az, distribute
from limes.catalog.catalog import AutogrowRule
from limes.kernel.units import Unit
from limes.quota.constraints import Constraint


def bounds(
    minimum: int = 0, maximum: int | None = None, *sources: BoundSource | None, forbids: bool = False
) -> AutogrowBounds:
    return AutogrowBounds(ProjectBounds(minimum, maximum, forbids), *sources)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (dict(), bounds()),
        (dict(max_quota=5), bounds(0, 5, None, BoundSource.MAX_QUOTA)),
        (dict(max_quota=0), bounds(0, 0, None, BoundSource.MAX_QUOTA)),
        (dict(max_quota=5, max_backend_quota=4), bounds(0, 4, None, BoundSource.BACKEND)),
        (dict(forbids_growth=True), bounds(forbids=True)),
        (
            dict(constraint=Constraint(3, 9), max_quota=20, min_backend_quota=2),
            bounds(3, 9, BoundSource.CONSTRAINT, BoundSource.CONSTRAINT),
        ),
        (dict(min_backend_quota=2), bounds(2, None, BoundSource.BACKEND)),
        (
            dict(override=7, max_quota=5, forbids_growth=True, constraint=Constraint(8, 9)),
            bounds(7, 7, BoundSource.OVERRIDE, BoundSource.OVERRIDE),
        ),
    ],
)
def test_bounds(limits: Any, expected: AutogrowBounds) -> None:
    assert find_bounds(**limits) == expected


def test_demand() -> None:
    demand = demand_by_az({"one": 5, "two": 0}, {"one": (2, 9), "gone": (0, 4)}, {"two": 3}, is_pooled=False)
    assert demand == {"one": Demand(5, 2, 9), "two": Demand(0, 0, 0, 3), "gone": Demand(0, 0, 4)}


@pytest.mark.parametrize(("committed", "beyond_usage"), [(30, 20), (5, 0), (11, 1)])
def test_commitments_for_all_azs_cover_usage_in_each(committed: int, beyond_usage: int) -> None:
    """10 are used in AZs, and 1 in none."""
    demand = demand_by_az({"one": 6, "two": 4, "any": 1}, {}, {"any": committed}, is_pooled=True)
    assert demand["any"] == Demand(1, 1, 1, beyond_usage)
    assert sum(each.needed for each in demand.values()) == max(committed, 11)


def test_words() -> None:
    def describe(demand: Demand, limits: dict[str, Any] | None = None, capacity: int = 1000, **rule: Any) -> str:
        found = find_bounds(**(limits or {}))
        project = ProjectDemand(1, {"any": demand}, found.bounds)
        allocation = distribute({"any": capacity}, [project], AutogrowRule(growth_multiplier=1.2, **rule))[1]
        return describe_allocation(project, allocation, found, Unit.GIB)

    assert describe(Demand(50, 45, 55, 60)) == (
        "60 GiB for usage and commitments, 12 GiB for growth"
        " (50 GiB used now, 45 GiB to 55 GiB recently, 60 GiB committed)"
    )
    assert describe(Demand(), project_base_quota=10) == "10 GiB for the base quota (0 GiB used)"
    assert describe(Demand()) == "nothing (0 GiB used)"
    assert describe(Demand(50, 50, 50), dict(max_quota=55)) == (
        "50 GiB for usage and commitments, 5 GiB for growth (50 GiB used); limited by the project's max_quota"
    )
    assert describe(Demand(50, 50, 50), dict(forbids_growth=True)).endswith("; limited by forbid_autogrowth")
    assert describe(Demand(50, 50, 50), capacity=54) == (
        "50 GiB for usage and commitments, 4 GiB for growth (50 GiB used); no capacity for 6 GiB more"
    )
    assert describe(Demand(2, 2, 2), dict(override=7)) == (
        "2 GiB for usage and commitments, 5 GiB for the minimum of the operator's override (2 GiB used)"
    )
