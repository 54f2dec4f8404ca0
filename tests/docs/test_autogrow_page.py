"""The example of docs/autogrow.md is what the computation gives."""

import re
from pathlib import Path

from limes.autogrow.rules import Demand, ProjectDemand, Step, distribute
from limes.catalog.catalog import ANY_AZ, AutogrowRule

PAGE = Path(__file__).parents[2] / "docs" / "autogrow.md"
STEPS = (Step.NEEDED, Step.RECENT_USAGE, Step.GROWTH, Step.BASE)
RULE = AutogrowRule(1.2, project_base_quota=10)


def read_example() -> list[list[str]]:
    """The cells of the table's rows, without its head."""
    lines = PAGE.read_text(encoding="utf-8").partition("## An example")[2].partition("\n## ")[0].splitlines()
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return rows[2:]


def test_the_example_is_what_the_computation_gives() -> None:
    rows = read_example()
    assert len(rows) == 6
    projects = []
    for id_, (_, usage, of_late, committed, *_) in enumerate(rows):
        smallest, largest = map(int, re.findall(r"\d+", of_late))
        demand = Demand(int(usage), smallest, largest, int(committed))
        projects.append(ProjectDemand(id_, {ANY_AZ: demand}))
    enough = distribute({ANY_AZ: 250}, projects, RULE)
    scarce = distribute({ANY_AZ: 180}, projects, RULE)
    for id_, row in enumerate(rows):
        parts = [sum(enough[id_].granted.get(step, {}).values()) for step in STEPS]
        assert list(map(int, row[4:])) == [*parts, enough[id_].quota, scarce[id_].quota], row[0]
