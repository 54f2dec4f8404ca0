"""Help with stories about quota for a time."""

from typing import Any

from tests.api.world import World
from tests.quota.quotas import resources
from tests.requests.quota_requests import PATHS

START = 1767225600  # 2026-01-01, when the clock of the world stands still
DAY = 86400


def set_quota(
    world: World,
    where: str,
    quota: int,
    token: str = "cloud-admin",
    *,
    service: str = "compute",
    name: str = "cores",
    simulate: bool = False,
    **term: Any,
) -> Any:
    """Sets a quota. Times are given in days from the start: `until=3`, `start=1`; others go through as they are."""
    resource: dict[str, Any] = {"name": name, "quota": quota}
    if "until" in term:
        resource["until"] = START + int(term.pop("until") * DAY)
    if "start" in term:
        resource["from"] = START + int(term.pop("start") * DAY)
    resource |= term
    level = "project" if "/projects/" in PATHS[where] else "domain"
    document = {level: {"services": [{"type": service, "resources": [resource]}]}}
    if simulate:
        return world.request("POST", f"{PATHS[where]}/simulate-put", token, json=document)
    return world.request("PUT", PATHS[where], token, json=document)


def temporary(world: World, where: str, name: str = "cores") -> Any:
    """The temporary quota in the report, with days from the start; None if there is none."""
    found = resources(world, PATHS[where])[name].get("temporary_quota")
    if found is not None:
        found = {**found, **{key: (found[key] - START) / DAY for key in ("from", "until")}}
    return found


def later(world: World, days: float) -> None:
    """Lets the time pass until so many days from the start, and runs the job of the collector."""
    world.clock.advance(START + days * DAY - world.clock.now().timestamp())
    world.settle_temporary()


def use(world: World, project: int, usage: int, name: str = "cores") -> None:
    """Changes the usage as a scrape does."""
    world.run(
        "UPDATE project_resources SET usage = %s WHERE project_id = %s"
        " AND resource_id = (SELECT id FROM resources WHERE name = %s)",
        [usage, project, name],
    )


def history(world: World, where: str) -> list[tuple[Any, ...]]:
    """Changes of the quota, the oldest first."""
    rows = world.get(f"{PATHS[where]}/history?limit=1000")["history"]
    return [(row["old"], row["new"], row["reason"], row.get("detail", "")) for row in reversed(rows)]
