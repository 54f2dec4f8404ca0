"""The metrics that count alerts and inconsistencies."""

from typing import Any

from limes.notifications.alerts import SEVERITIES
from limes.reports.metrics import AlertGauges
from tests.collector.fixtures import Lab


def figures(gauges: AlertGauges) -> dict[tuple[Any, ...], float]:
    return {
        (sample.name, *sample.labels.values()): sample.value for family in gauges.collect() for sample in family.samples
    }


def test_alerts_and_inconsistencies_are_counted(lab: Lab) -> None:
    lab.scrape_all()
    gauges = AlertGauges(lab.limes)
    lab.execute("UPDATE project_resources SET quota = 100, backend_quota = 100, usage = 10")
    lab.execute("UPDATE project_services SET push_error = ''")
    services = len(lab.catalog.services)
    found = figures(gauges)
    of_services = sum(len(severities) for severities in SEVERITIES.values()) - 1
    assert len([key for key in found if key[0] == "limes_alerts"]) == of_services * services + 1
    assert {value for key, value in found.items() if key[0] == "limes_alerts"} == {0}
    (resource_id,) = lab.rows("SELECT id FROM resources WHERE name = 'cores'")[0]
    (project_id,) = lab.rows("SELECT MIN(id) FROM projects")[0]
    at = (resource_id, project_id)
    lab.execute("UPDATE project_resources SET usage = 96 WHERE resource_id = %s AND project_id = %s", *at)
    assert figures(gauges) == found, "they are counted once a minute"
    lab.clock.advance(60)
    assert figures(gauges)["limes_alerts", "quota_used", "critical", "compute"] == 1
    lab.execute("UPDATE project_resources SET usage = 101 WHERE resource_id = %s AND project_id = %s", *at)
    lab.clock.advance(60)
    found = figures(gauges)
    assert found["limes_alerts", "quota_used", "critical", "compute"] == 0
    assert found["limes_alerts", "usage_above_quota", "critical", "compute"] == 1
    assert found["limes_inconsistencies", "project_quota_overspent"] == 1
