"""The account of usage ends with what is used: a project, a resource or a service that is there no more."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from msgspec import structs

from limes.backends import ServiceDef
from limes.catalog.catalog import Catalog
from limes.collector.discover import discover_projects
from limes.collector.sync_catalog import sync_catalog
from limes.kernel.calendar import DAY, HOUR, Granularity
from limes.metering import queries as metering
from limes.metering import usage
from limes.metering.queries import StepRow
from tests.collector.lab import BERLIN, COMPUTE, DRESDEN, GERMANY, PARIS, VOLUME, FakeKeystone, Lab
from tests.metering.in_lab import CORES, START, close, entries, scrape
from tests.support.databases import LOCK_WAITS, ON_POSTGRESQL
from tests.support.limes import with_values
from tests.support.processes import eventually

pytestmark = pytest.mark.sql

LAST_STEP = "SELECT usage FROM usage_steps WHERE project_uuid = 'p-berlin' AND resource_name = 'cores' ORDER BY at DESC"


def configure(lab: Lab, *services: ServiceDef, grace: float = 5.5 * DAY) -> None:
    """A collector starts with this configuration, or checks that the database still fits it."""
    settings = with_values(lab.limes.settings, {"collector.service_grace": grace})
    sync_catalog(structs.replace(lab.limes, catalog=Catalog(["az-one"], services), settings=settings), prune=True)


def test_a_service_that_has_left_is_unknown_until_it_is_deleted(lab: Lab) -> None:
    """And from then on it is known that nothing of it is used."""
    scrape(lab, 4)
    close(lab)
    lab.clock.advance(HOUR)
    configure(lab, VOLUME)
    for hours in (4 * 24, 36, 48):
        lab.clock.advance(hours * HOUR)
        configure(lab, VOLUME)
        close(lab)
    assert lab.rows("SELECT type FROM services") == [("volume",)]
    found = [
        (entry.account.used, entry.account.unknown, entry.account.last)
        for entry in entries(lab, START, START + 7 * DAY, Granularity.DAY)
        if entry.meter == CORES
    ]
    assert found == [(8 * HOUR, 22 * HOUR, 4), *[(0, DAY, 4)] * 4, (0, 13 * HOUR, 0)]


def test_a_resource_that_is_offered_no_more_while_it_is_scraped(lab: Lab) -> None:
    """The collector that finds it out is not the one that scrapes."""
    scrape(lab, 4)
    close(lab)
    others = structs.replace(COMPUTE, resources={name: COMPUTE.resources[name] for name in ("ram", "gpus")})
    lab.clock.advance(HOUR)
    lab.compute.during = lambda: configure(lab, others, VOLUME)
    scrape(lab, 7)
    lab.compute.during = lambda: None
    lab.clock.advance(HOUR)
    configure(lab, others, VOLUME)
    assert lab.rows(LAST_STEP)[0] == (0,)


@pytest.mark.parametrize("forgotten", ["row", "metered_usage"])
def test_a_resource_that_the_previous_release_has_scraped_last(lab: Lab, forgotten: str) -> None:
    """It deletes rows of AZs in which nothing is used any more, or writes new ones, and the account does not hear of it.

    A resource of the same name in another service goes on.
    """
    scrape(lab, {"az-one": 4, "az-two": 3})
    close(lab)
    metering.add_steps(lab.engine, [StepRow(BERLIN.id, "volume", "cores", "az-one", START, 9, START)])
    lab.clock.advance(HOUR)
    where = "az = 'az-two' AND resource_id = (SELECT id FROM resources WHERE name = 'cores')"
    if forgotten == "row":
        lab.execute(f"DELETE FROM project_az_resources WHERE {where}")
    else:
        lab.execute(f"UPDATE project_az_resources SET metered_usage = NULL WHERE {where}")
    lab.execute("UPDATE project_services SET scraped_at = %s WHERE scraped_at IS NOT NULL", lab.now)
    others = structs.replace(COMPUTE, resources={name: COMPUTE.resources[name] for name in ("ram", "gpus")})
    configure(lab, others, VOLUME)
    configure(lab, others, VOLUME)
    assert lab.rows("SELECT az, usage FROM usage_steps WHERE at = %s ORDER BY az", int(lab.now)) == [
        ("az-one", 0),
        ("az-two", 0),
    ]
    lab.clock.advance(2 * DAY)
    close(lab)
    found = entries(lab, START, START + DAY, Granularity.DAY)
    assert {(entry.meter.service, entry.account.last) for entry in found} == {("compute", 0), ("volume", 9)}


@ON_POSTGRESQL  # SQLite has one writer at a time
@pytest.mark.parametrize("cores", [None, 0, 4])
def test_a_project_that_vanishes_while_its_scrape_is_written(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, cores: int | None
) -> None:
    """The scrape is the last of it, even if it is the first, or the first that finds something."""
    if cores is not None:
        scrape(lab, cores)
    close(lab)
    lab.clock.advance(HOUR)
    is_written, may_commit = Event(), Event()
    add_steps = usage.queries.add_steps

    def add_and_wait(engine: object, steps: Sequence[StepRow]) -> None:
        add_steps(lab.engine, steps)
        is_written.set()
        assert may_commit.wait(100)

    monkeypatch.setattr(usage.queries, "add_steps", add_and_wait)
    lab.keystone = FakeKeystone(DRESDEN, PARIS)
    with ThreadPoolExecutor(2) as pool:
        scraping = pool.submit(scrape, lab, 7)
        assert is_written.wait(100)
        lab.clock.advance(1)
        vanishing = pool.submit(discover_projects, lab.limes, GERMANY.id)
        eventually("it waits for the scrape", lambda: vanishing.done() or bool(lab.rows(LOCK_WAITS)))
        may_commit.set()
        scraping.result(100)
        vanishing.result(100)
    assert lab.rows("SELECT uuid FROM projects WHERE uuid = 'p-berlin'") == []
    assert lab.rows(LAST_STEP)[0] == (0,)
    deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert lab.rows(deadlocks) == [(0,)], "neither was undone and done again"
