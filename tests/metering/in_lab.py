"""Help with tests of the account of usage: scrapes of berlin, runs of the job, and what is told."""

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import structs

from limes.app.context import Limes
from limes.catalog.catalog import Catalog
from limes.collector.scrape_usage import claim_scrapes
from limes.commitments import events as commitment_events
from limes.commitments.events import EventRow
from limes.kernel.calendar import HOUR, Granularity
from limes.kernel.errors import BackendError
from limes.kernel.units import Unit
from limes.metering.close import close_days
from limes.metering.entries import UsageEntry, UsageQuery
from tests.collector.lab import BERLIN, COMPUTE, GERMANY, VOLUME, AZUsage, Lab, scrape_project
from tests.support.limes import with_values
from tests.support.usage import read_entries

CORES = (BERLIN.id, "compute", "cores", "az-one")
START = 1767225600
"""2026-01-01T00:00:00Z, when the lab's clock begins."""


def close(lab: Lab, **metering: Any) -> None:
    """Runs the job, with other settings."""
    close_days(with_metering(lab, **metering))


def with_metering(lab: Lab, **metering: Any) -> Limes:
    settings = with_values(lab.limes.settings, {f"metering.{key}": value for key, value in metering.items()})
    return structs.replace(lab.limes, settings=settings)


def cores_in(unit: Unit) -> Catalog:
    """The lab's, with another unit of cores."""
    cores = structs.replace(COMPUTE.resources["cores"], unit=unit)
    return Catalog(
        ["az-one", "az-two"], [structs.replace(COMPUTE, resources={**COMPUTE.resources, "cores": cores}), VOLUME]
    )


def entries(lab: Lab, begin: int, end: int, granularity: Granularity, **options: Any) -> list[UsageEntry]:
    return read_entries(lab.limes, structs.replace(UsageQuery(begin, end, granularity, every_az=True), **options))


def of_cores(lab: Lab, begin: int, end: int, granularity: Granularity, *, every_az: bool = False) -> list[UsageEntry]:
    """What is told of berlin's cores."""
    found = entries(lab, begin, end, granularity, every_az=every_az)
    return [entry for entry in found if entry.meter[:3] == CORES[:3]]


def scrape(lab: Lab, cores: int | Mapping[str, int] | None, *, ram: int = 0, service: str = "compute") -> None:
    """Scrapes berlin now, with this usage; None: the backend does not answer."""
    lab.compute.error = BackendError("no answer") if cores is None else None
    if cores is not None:
        cores = {"az-one": cores} if isinstance(cores, int) else cores
        lab.compute.usage["berlin"] = {
            "cores": {az: AZUsage(amount) for az, amount in cores.items()},
            "ram": {"az-two": AZUsage(ram)},
        }
    lab.execute(
        "UPDATE project_services SET next_scrape_at = %s, is_stale = %s, scrape_claimed_until = NULL"
        " WHERE project_id = (SELECT id FROM projects WHERE name = 'berlin')",
        lab.now - 1,
        True,
    )
    while (found := claim_scrapes(lab.limes, "compute", 1)) and found[0].project.project_name != "berlin":
        pass
    assert found, "berlin is due"
    scrape_project(lab.limes, found[0], lab.listeners)


def keep_scraping(lab: Lab, cores: int | Mapping[str, int], until: int) -> None:
    """Each hour."""
    while lab.now < until:
        lab.clock.advance(min(HOUR, until - lab.now))
        scrape(lab, cores)


def commitment_event(lab: Lab, event: str, uuid: str, amount: int, expires_at: float, **changes: object) -> None:
    """What is noted when something happens to a commitment to cores in az-one."""
    now = int(lab.now)
    document = {
        **{"uuid": uuid, "project_id": BERLIN.id, "domain_id": GERMANY.id, "status": "confirmed"},
        **{"service_type": "compute", "resource_name": "cores", "availability_zone": "az-one", "amount": amount},
        **{"created_at": now, "confirmed_at": now, "expires_at": int(expires_at)},
        **changes,
    }
    row = EventRow(
        event,
        uuid,
        str(document["project_id"]),
        orjson.dumps(document).decode(),
        "",
        "",
        "",
        str(document["domain_id"]),
    )
    lab.engine.atomic(lambda: commitment_events.append(lab.engine, [row], lambda: lab.now))
