"""Help with tests of what happens to commitments by themselves: rows of them, and capacity."""

from collections.abc import Callable, Mapping
from typing import Any

from limes.backends import AZCapacity, AZUsage
from limes.catalog.catalog import BehaviorRule
from tests.collector.lab import Lab

YEAR = 365 * 86400
RULE = BehaviorRule(resource="compute/cores", commitment_durations=("1 year",), commitment_is_az_aware=True)


def make_committed(make_lab: Callable[..., Lab], rule: BehaviorRule = RULE, **usage: Mapping[str, int]) -> Lab:
    """Cores are committed by AZ; there are none yet. What projects use was scraped."""
    lab = make_lab(catalog_options={"behaviors": [rule]})
    for project, by_az in usage.items():
        lab.compute.usage[project] = {"cores": {az: AZUsage(amount) for az, amount in by_az.items()}}
    lab.discover()
    lab.scrape_all()
    return lab


def capacity(lab: Lab, amount: int) -> None:
    """Scrapes so much capacity in az-one, and 5 in az-two."""
    lab.clock.advance(901)
    lab.capacitors["nova"].capacity = {"compute": {"cores": {"az-one": AZCapacity(amount), "az-two": AZCapacity(5)}}}
    outcome = lab.scrape_capacity()
    assert outcome is not None
    assert outcome.success


def add(
    lab: Lab,
    number: int,
    amount: int,
    *,
    project: str = "berlin",
    status: str = "planned",
    confirm_by: float | None = None,
    expires_at: float | None = None,
    az: str = "az-one",
    resource: str = "cores",
) -> None:
    """Stores a commitment; those with smaller numbers are older."""
    lab.execute(
        "INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,"
        " creator_uuid, creator_name, confirm_by, confirmed_at, expires_at, superseded_at, transfer_status)"
        " VALUES (%s, %s, (SELECT id FROM resources WHERE name = %s), %s, %s, '1 year', %s, %s, '', '', %s, %s,"
        " %s, %s, '')",
        f"uuid-{number}",
        lab.project_id(project),
        resource,
        az,
        amount,
        status,
        lab.now - 100 + number,
        lab.now if confirm_by is None else confirm_by,
        lab.now if status == "confirmed" else None,
        expires_at or lab.now + YEAR,
        lab.now if status == "superseded" else None,
    )


def states(lab: Lab) -> dict[int, str]:
    """Status by number."""
    return {
        int(uuid.removeprefix("uuid-")): status
        for uuid, status in lab.rows("SELECT uuid, status FROM project_commitments")
    }


def events(lab: Lab) -> list[tuple[Any, int]]:
    """What has happened to which, in order."""
    return [
        (event, int(uuid.removeprefix("uuid-")))
        for event, uuid in lab.rows("SELECT event, commitment_uuid FROM commitment_events ORDER BY number")
    ]
