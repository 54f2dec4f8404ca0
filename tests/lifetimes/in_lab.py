"""Subresources of servers in the lab, and what is stored of their lifetimes."""

import re
from copy import copy
from functools import partial
from typing import Any

from msgspec import structs

from limes.backends import AZUsage
from limes.lifetimes.answers import seconds_within
from limes.lifetimes.queries import LifetimeFilter, LifetimeRow
from limes.lifetimes.record import clean_up_lifetimes, record_lifetimes, show_lifetimes
from limes.lifetimes.rules import Followed, LifetimeRule
from limes.lifetimes.settings import SubresourceLifetimeSettings
from tests.collector.lab import Lab

FOLLOWED: Followed = {("compute", "cores"): ("flavor", "size"), ("volume", "capacity"): ("size",)}
DAY = 86400.0


def following(lab: Lab, followed: Followed = FOLLOWED) -> Lab:
    """The lab with scrapes that follow subresources."""
    other = copy(lab)
    other.listeners = [*lab.listeners, partial(record_lifetimes, of=followed)]
    return other


def scrape(lab: Lab, followed: Followed = FOLLOWED, service: str = "compute") -> None:
    """Scrapes all projects."""
    lab.execute("UPDATE project_services SET next_scrape_at = %s, scrape_claimed_until = NULL", lab.now)
    follower = following(lab, followed)
    while follower.scrape_next(service) is not None:
        pass


def report(lab: Lab, *entries: tuple[str, dict[str, Any]], project: str = "berlin") -> None:
    """What the next scrape finds in a project: (AZ, subresource)."""
    azs = {az for az, _ in entries}
    shown = {az: tuple(entry for place, entry in entries if place == az) for az in azs}
    lab.compute.usage[project] = {"cores": {az: AZUsage(len(some), subresources=some) for az, some in shown.items()}}


def server(id_: str, flavor: str = "small", **more: Any) -> dict[str, Any]:
    """A subresource."""
    return {"id": id_, "name": f"server {id_}", "flavor": flavor, "status": "ACTIVE", **more}


def clean_up(lab: Lab, followed: Followed = FOLLOWED, retention: float = 400 * DAY) -> None:
    """Runs the job."""
    resources = [LifetimeRule(resource=re.escape("/".join(ref)), attributes=names) for ref, names in followed.items()]
    section = SubresourceLifetimeSettings.model_construct(resources=tuple(resources), retention=retention)
    settings = lab.limes.settings.model_copy(update={"subresource_lifetimes": section})
    clean_up_lifetimes(structs.replace(lab.limes, settings=settings))


def periods(lab: Lab, since: float = 0, until: float = 2.0**40) -> list[LifetimeRow]:
    """All periods that overlap with this time."""
    return list(show_lifetimes(lab.limes, LifetimeFilter(since, until), 0, 10_000))


def shown(lab: Lab) -> list[tuple[Any, ...]]:
    """Of each period: id, attributes, and when it began and ended."""
    return [(row.id, row.attributes, row.began_at, row.ended_at) for row in periods(lab)]


def billed(lab: Lab, since: int, until: int) -> dict[tuple[str, ...], int]:
    """Seconds by project, AZ, id and attributes."""
    sums: dict[tuple[str, ...], int] = {}
    for row in periods(lab, since, until):
        key = (row.project_uuid, row.az, row.id, row.attributes)
        sums[key] = sums.get(key, 0) + seconds_within(row, since, until)
    return {key: seconds for key, seconds in sums.items() if seconds}
