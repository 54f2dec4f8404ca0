"""Help with tests of quota that follows usage: a lab in which cores do, and what it has stored."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from limes.backends import AZCapacity, AZUsage
from limes.catalog.catalog import AutogrowRule, DistributionRule
from tests.collector.lab import Lab
from tests.commitments.in_lab import RULE as COMMITMENTS

DAY = 86400.0
GROWTH = AutogrowRule(growth_multiplier=1.2, retention=2 * DAY)


def distributions(rule: AutogrowRule = GROWTH, pattern: str = "compute/cores") -> list[DistributionRule]:
    return [DistributionRule(re.compile(pattern), "autogrow", autogrow=rule)]


def make_growing(make_lab: Callable[..., Lab], rule: AutogrowRule = GROWTH, **options: Any) -> Lab:
    """Nothing is scraped yet. Commitments to cores are for single AZs."""
    catalog_options = {"distributions": distributions(rule), "behaviors": [COMMITMENTS]}
    lab = make_lab(catalog_options=catalog_options, **options)
    lab.discover()
    return lab


def make_used(make_lab: Callable[..., Lab]) -> Lab:
    """100 cores in each AZ; berlin uses 20 and 30, dresden 5 in az-one, paris nothing."""
    lab = make_growing(make_lab)
    provide(lab, az_one=100, az_two=100)
    use(lab, berlin={"az-one": 20, "az-two": 30}, dresden={"az-one": 5}, paris={})
    lab.clock.advance(10)
    return lab


def use(lab: Lab, **usage: Mapping[str, int]) -> None:
    """Scrapes this usage of cores, by project and AZ, after a day. Only those named are due."""
    lab.clock.advance(DAY)
    for project, by_az in usage.items():
        lab.compute.usage[project] = {"cores": {az: AZUsage(amount) for az, amount in by_az.items()}}
    lab.make_due(*usage)
    assert lab.scrape_all() == len(usage)


def provide(lab: Lab, **capacity: int) -> None:
    """Scrapes this capacity of cores: `az_one=100`; twice where it is much less than before."""
    by_az = {az.replace("_", "-"): AZCapacity(amount) for az, amount in capacity.items()}
    lab.capacitors["nova"].capacity = {"compute": {"cores": by_az}}
    for _ in range(2):
        lab.clock.advance(901)
        assert lab.scrape_capacity()
        if not lab.rows("SELECT 1 FROM resources WHERE capacity_drop_seen_at IS NOT NULL"):
            break


def az_quotas(lab: Lab) -> dict[str, dict[str, int]]:
    """By project and AZ. Asserts that they add up to the projects' quota."""
    found: dict[str, dict[str, int]] = {}
    for project, az, quota in lab.rows(
        "SELECT p.name, q.az, q.quota FROM project_az_quotas q JOIN projects p ON p.id = q.project_id ORDER BY 1, 2"
    ):
        found.setdefault(project, {})[az] = quota
    totals = lab.rows(
        "SELECT p.name, pr.quota FROM project_resources pr JOIN projects p ON p.id = pr.project_id"
        " JOIN resources r ON r.id = pr.resource_id WHERE r.name = 'cores'"
    )
    assert {name: sum(found.get(name, {}).values()) for name, _ in totals} == dict(totals)
    return found


def kept_changes(lab: Lab) -> dict[tuple[str, str], list[list[float]]]:
    """Recent usage by project and AZ."""
    rows = lab.rows(
        "SELECT p.name, u.az, u.changes FROM project_usage_changes u JOIN projects p ON p.id = u.project_id"
    )
    return {(name, az): orjson.loads(text) for name, az, text in rows}


def history(lab: Lab) -> list[tuple[Any, ...]]:
    """All of it but for the request ids, the oldest first."""
    return lab.rows(
        "SELECT project_uuid, resource_name, old, new, reason, detail, initiator_name FROM quota_history"
        " ORDER BY number"
    )


def due_at(lab: Lab, resource: str = "cores") -> float | None:
    """When quota is due."""
    ((due,),) = lab.rows("SELECT quota_due_at FROM resources WHERE name = %s", resource)
    return None if due is None else float(due)


def set_due(lab: Lab, due: float) -> None:
    """Says when quota is due that follows usage."""
    lab.execute("UPDATE resources SET quota_due_at = %s WHERE quota_due_at IS NOT NULL", due)
