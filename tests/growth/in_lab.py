"""Help with tests of growth: what a small cloud uses and commits, the job, and what it has stored."""

from typing import Any

from limes.growth.sample import sample_growth
from tests.collector.lab import AZCapacity, AZUsage, Lab
from tests.metering.in_lab import with_metering


def take_sample(lab: Lab, **metering: Any) -> None:
    """Runs the job, with other settings."""
    sample_growth(with_metering(lab, **metering))


def use(lab: Lab, cores: int, ram: int = 0, project: str = "berlin") -> None:
    """What a project uses of cores in az-one and of ram in az-two, as a scrape finds it."""
    lab.compute.usage[project] = {"cores": {"az-one": AZUsage(cores)}, "ram": {"az-two": AZUsage(ram)}}
    lab.execute("UPDATE project_services SET next_scrape_at = %s, scrape_claimed_until = NULL", lab.now - 1)
    lab.scrape_all()


def set_domain_quota(lab: Lab, quota: int, domain: str = "germany", resource: str = "cores") -> None:
    lab.execute(
        "UPDATE domain_resources SET quota = %s WHERE domain_id = (SELECT id FROM domains WHERE name = %s)"
        " AND resource_id = (SELECT id FROM resources WHERE name = %s)",
        quota,
        domain,
        resource,
    )


def set_capacity(lab: Lab, amount: int, resource: str = "cores") -> None:
    lab.capacitors["nova"].capacity = {"compute": {resource: {"az-one": AZCapacity(amount)}}}
    lab.execute("UPDATE capacitors SET next_scrape_at = %s", lab.now - 1)
    assert lab.scrape_capacity()


def stored(
    lab: Lab, model: str, columns: str, scope: str = "", resource: str = "cores", az: str = ""
) -> list[tuple[Any, ...]]:
    return list(
        lab.rows(
            f"SELECT begins, {columns} FROM {model} JOIN growth_series ON id = series_id"
            " WHERE scope = %s AND resource_name = %s AND az = %s ORDER BY begins",
            scope,
            resource,
            az,
        )
    )


HOURS = "usage, committed, quota, capacity"
SUMMARIES = "samples, usage, usage_largest, usage_last, committed, committed_last, quota, capacity"
