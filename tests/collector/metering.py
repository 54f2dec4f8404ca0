"""Help with tests of the account of usage: scrapes of berlin, runs of the job, and what is told."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from limes.actions.metering.close import CloseAccounts
from limes.actions.metering.entries import UsageEntry
from limes.actions.metering.report import ReportUsage
from limes.actions.metering.usage_query import UsageQuery
from limes.core.metering.calendar import Granularity
from limes.errors import BackendError
from tests.collector.lab import BERLIN, AZUsage, Lab

CORES = (BERLIN.id, "compute", "cores", "az-one")
START = 1767225600
"""2026-01-01T00:00:00Z, when the lab's clock begins."""


def job(lab: Lab) -> CloseAccounts:
    return CloseAccounts(lab.engine, lab.clock)


def entries(lab: Lab, begin: int, end: int, granularity: Granularity, **options: Any) -> list[UsageEntry]:
    report = ReportUsage(lab.engine, lab.clock)
    page = report.page(replace(UsageQuery(begin, end, granularity, every_az=True), **options))
    assert page.next is None
    return [entry for part in report.entries(page) for entry in part]


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
    while (found := lab.scrape().claim("compute", 1)) and found[0].project.project_name != "berlin":
        pass
    assert found, "berlin is due"
    lab.scrape().run(found[0])
