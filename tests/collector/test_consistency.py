"""The consistency job: rows that mirror the configuration, and constraints on domain quotas."""

from typing import Any

import pytest
from msgspec import structs

from limes.app.context import Limes
from limes.backends import AZUsage
from limes.catalog import queries as catalog_queries
from limes.catalog.catalog import Catalog, ServiceDef
from limes.catalog.queries import service_resource_ids
from limes.collector.follow_configuration import check_consistency
from limes.collector.sync_catalog import sync_catalog
from limes.reports.status import report_status
from tests.collector.lab import COMPUTE, VOLUME, Lab
from tests.support.limes import capacitors, with_values
from tests.support.rows import all_rows, changes

DAY = 86400.0


def configured(lab: Lab, services: list[Any], names: list[str], grace: float = 0.0) -> Limes:
    """With these services and capacitors."""
    settings = with_values(lab.limes.settings, {"collector.service_grace": grace})
    return structs.replace(
        lab.limes, catalog=Catalog(["az-one"], services), backends=capacitors(*names), settings=settings
    )


def check(lab: Lab, services: list[Any], names: list[str], grace: float = 0.0) -> None:
    """Runs the job."""
    check_consistency(configured(lab, services, names, grace))


def names(lab: Lab, table: str, column: str) -> list[Any]:
    with lab.engine.connection():
        return sorted(row[0] for row in lab.engine.rows(f"SELECT {column} FROM {table}"))


def test_running_again_changes_nothing(lab: Lab) -> None:
    check(lab, [COMPUTE, VOLUME], ["inventory"])
    before = all_rows(lab.engine)
    check(lab, [COMPUTE, VOLUME], ["inventory"])
    assert changes(before, all_rows(lab.engine)) == {}


def test_a_service_that_left_the_configuration_goes_with_all_its_rows(lab: Lab) -> None:
    check(lab, [COMPUTE], ["inventory"])
    assert names(lab, "services", "type") == ["compute"]
    assert names(lab, "resources", "name") == ["cores", "gpus", "ram"]
    assert names(lab, "project_services", "project_id") == names(lab, "projects", "id")


def test_a_service_that_left_comes_back_as_it_was_within_the_grace(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(5)}}
    lab.scrape_all("compute")
    lab.set_quota("cores", 7)
    before = all_rows(lab.engine)
    for days in (0, 29):
        check(lab, [VOLUME], ["nova"], grace=30 * DAY)
        lab.clock.advance(days * DAY)
    check(lab, [VOLUME], ["nova"], grace=30 * DAY)
    assert (
        "service compute is not configured any more: its quotas and commitments are kept until 2026-01-31"
        in caplog.text
    )
    assert caplog.text.count("is not configured any more") == 1
    assert lab.rows("SELECT name FROM resources WHERE is_known = %s", True) == [("capacity",)]
    assert [one.service for one in report_status(lab.engine, 7200, lab.now).services] == ["volume"]
    check(lab, [COMPUTE, VOLUME], ["nova"], grace=30 * DAY)
    assert "service compute is configured again" in caplog.text
    assert lab.quotas()["cores"] == (7, 0)
    assert changes(before, all_rows(lab.engine)) == {}
    # it has all the time again when it leaves once more
    lab.clock.advance(10 * DAY)
    check(lab, [VOLUME], ["nova"], grace=30 * DAY)
    lab.clock.advance(30 * DAY - 1)
    check(lab, [VOLUME], ["nova"], grace=30 * DAY)
    assert names(lab, "services", "type") == ["compute", "volume"]
    lab.clock.advance(1)
    check(lab, [VOLUME], ["nova"], grace=30 * DAY)
    assert names(lab, "services", "type") == ["volume"]
    assert "service compute is not configured any more: deleted with all of its quotas" in caplog.text


def test_a_process_that_does_not_prune_marks_nothing(lab: Lab) -> None:
    before = all_rows(lab.engine)
    sync_catalog(configured(lab, [VOLUME], ["nova"]))
    assert set(changes(before, all_rows(lab.engine))) == {"resources"}  # which are hidden


def test_a_resource_that_left_the_configuration_is_hidden_until_it_comes_back(lab: Lab) -> None:
    smaller = ServiceDef("compute", "compute", {name: one for name, one in COMPUTE.resources.items() if name != "ram"})

    def known() -> list[Any]:
        return sorted(
            service_resource_ids(lab.engine, lab.rows("SELECT id FROM services WHERE type = 'compute'")[0][0])
        )

    check(lab, [smaller, VOLUME], ["inventory"])
    assert (known(), names(lab, "resources", "name")) == (["cores", "gpus"], ["capacity", "cores", "gpus", "ram"])
    check(lab, [COMPUTE, VOLUME], ["inventory"])
    assert known() == ["cores", "gpus", "ram"]


def test_a_new_service_is_due_in_every_project_at_once(lab: Lab) -> None:
    check(lab, [COMPUTE], ["inventory"])
    lab.clock.advance(10)
    check(lab, [COMPUTE, VOLUME], ["inventory"])
    with lab.engine.connection():
        due = lab.engine.rows(
            "SELECT ps.next_scrape_at FROM project_services ps JOIN services s ON s.id = ps.service_id"
            " WHERE s.type = 'volume'"
        )
    assert due == [(lab.clock.now().timestamp(),)] * 3


def test_a_capacitor_that_left_takes_its_capacity_along(lab: Lab) -> None:
    check(lab, [COMPUTE, VOLUME], ["inventory"])

    def own() -> None:
        lab.engine.execute(
            "UPDATE resources SET capacitor_id = (SELECT id FROM capacitors WHERE name = 'inventory') WHERE name = 'ram'"
        )
        lab.engine.execute(
            "INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
            " SELECT id, 'any', 5, '[]' FROM resources WHERE name = 'ram'"
        )

    lab.engine.atomic(own)
    check(lab, [COMPUTE, VOLUME], ["other"])
    assert names(lab, "capacitors", "name") == ["other"]
    assert names(lab, "az_resources", "az") == []


def test_a_service_that_comes_back_at_the_last_moment_is_not_deleted(lab: Lab) -> None:
    """One collector has decided to delete it when another one, which has it in its configuration, starts."""
    check(lab, [VOLUME], ["nova"], grace=DAY)
    lab.clock.advance(DAY)

    def decide_late() -> None:
        overdue = catalog_queries.services_vanished_before(lab.engine, lab.now - DAY)
        assert overdue == ["compute"]
        catalog_queries.restore_services(lab.engine, ["compute", "volume"])
        catalog_queries.delete_services(lab.engine, overdue, lab.now - DAY)

    lab.engine.atomic(decide_late)
    assert names(lab, "services", "type") == ["compute", "volume"]
