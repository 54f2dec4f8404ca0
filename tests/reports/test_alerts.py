"""What needs somebody, on each level, with the configured thresholds."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from limes.catalog.catalog import AutogrowRule, DistributionRule
from limes.notifications.alerts import AlertRules, ThresholdRule
from tests.api.world import FRANCE, GERMANY, World
from tests.commitments.commitments import BEHAVIORS, NOW, PATHS, commit
from tests.reports.test_attention import PROJECT_BERLIN, PROJECT_DRESDEN, SECRET, fail_scrapes

DAY = 86400
MANY = AlertRules(quota_used=(ThresholdRule(resource="compute/cores", warning=20, critical=28),))


def alerts(world: World, query: str = "", token: str = "cloud-admin", path: str = "/v1") -> Any:
    return world.get(f"{path}/alerts{query}", token)


def kinds(world: World, query: str = "", path: str = "/v1") -> list[tuple[str, str]]:
    return [(alert["kind"], alert["severity"]) for alert in alerts(world, query, path=path)["alerts"]]


@pytest.mark.sql
def test_usage_near_and_above_quota(cloud: World) -> None:
    above = {
        "kind": "usage_above_quota",
        "severity": "critical",
        "project": PROJECT_DRESDEN,
        "service": "compute",
        "resource": "cores",
        "quota": 30,
        "usage": 31,
    }
    assert alerts(cloud) == {"alerts": [above], "counts": {"critical": 1, "warning": 0}}
    cloud.run("UPDATE project_resources SET usage = 900 WHERE quota = 1024")
    warning = {
        "kind": "quota_used",
        "severity": "warning",
        "project": PROJECT_BERLIN,
        "service": "compute",
        "resource": "ram",
        "unit": "MiB",
        "quota": 1024,
        "usage": 900,
        "threshold": 80,
    }
    assert alerts(cloud) == {"alerts": [above, warning], "counts": {"critical": 1, "warning": 1}}
    cloud.run("UPDATE project_resources SET usage = 1024 WHERE quota = 1024")
    critical = {**warning, "severity": "critical", "usage": 1024, "threshold": 95}
    assert alerts(cloud) == {"alerts": [above, critical], "counts": {"critical": 2, "warning": 0}}
    assert alerts(cloud, "?limit=1") == {"alerts": [above], "counts": {"critical": 2, "warning": 0}}
    assert alerts(cloud, "?resource=ram")["alerts"] == [critical]
    assert alerts(cloud, token="berlin-reader", path=PATHS["berlin"])["alerts"] == [critical]
    assert len(alerts(cloud, token="germany-viewer", path=f"/v1/domains/{GERMANY}")["alerts"]) == 2
    nothing = {"alerts": [], "counts": {"critical": 0, "warning": 0}}
    assert alerts(cloud, token="france-admin", path=f"/v1/domains/{FRANCE}") == nothing


def test_exactly_at_a_threshold_is_not_above_it(cloud: World) -> None:
    cloud.run("UPDATE project_resources SET quota = 1000, usage = 800 WHERE quota = 1024")
    assert kinds(cloud, "?resource=ram") == []
    cloud.run("UPDATE project_resources SET usage = 950 WHERE quota = 1000")
    assert kinds(cloud, "?resource=ram") == [("quota_used", "warning")]
    cloud.run("UPDATE project_resources SET usage = 951 WHERE quota = 1000")
    assert kinds(cloud, "?resource=ram") == [("quota_used", "critical")]


def test_projects_with_bursting_may_use_more_than_their_quota(cloud: World) -> None:
    cloud.run("UPDATE projects SET has_bursting = %s", [True])
    assert alerts(cloud)["counts"] == {"critical": 1, "warning": 0}
    assert kinds(cloud) == [("quota_used", "critical")]


def test_thresholds_by_resource(make: Callable[..., World]) -> None:
    cloud = make(behaviors=BEHAVIORS, alerts=MANY)
    cloud.run("UPDATE project_resources SET usage = 900 WHERE quota = 1024")
    found = alerts(cloud)
    shown = [(one["kind"], one["project"]["name"], one["resource"], one.get("threshold")) for one in found["alerts"]]
    assert shown == [
        ("usage_above_quota", "dresden", "cores", None),
        ("quota_used", "berlin", "ram", 80),
        ("quota_used", "berlin", "cores", 20),
    ]
    assert found["counts"] == {"critical": 1, "warning": 2}


EVERYWHERE = AlertRules(quota_used=(ThresholdRule(resource=".*"),))


@pytest.mark.parametrize(("rules", "expected"), [(AlertRules(), []), (EVERYWHERE, [("quota_used", "critical")])])
def test_quota_that_grows_by_itself_is_always_nearly_used(
    make: Callable[..., World], rules: AlertRules, expected: list[tuple[str, str]]
) -> None:
    grows = DistributionRule(re.compile("compute/ram"), "autogrow", autogrow=AutogrowRule(growth_multiplier=1.0))
    cloud = make(behaviors=BEHAVIORS, distributions=[grows], alerts=rules)
    cloud.run("UPDATE project_resources SET usage = 1024 WHERE quota = 1024")
    assert kinds(cloud, "?resource=ram") == expected


@pytest.mark.sql
def test_commitments_that_end(cloud: World) -> None:
    cloud.run("UPDATE project_resources SET usage = 0")
    made = commit(cloud, duration="1 year")
    commit(cloud, "dresden", duration="1 hour")
    assert kinds(cloud) == [], "it ends in an hour, and nothing can be done within that time"
    cloud.run("UPDATE project_commitments SET expires_at = %s WHERE duration = '1 year'", [NOW + 28 * DAY])
    cloud.run("UPDATE project_commitments SET created_at = 1, confirmed_at = 1 WHERE duration = '1 year'")
    expected = {
        "kind": "commitment_expires",
        "severity": "warning",
        "project": PROJECT_BERLIN,
        "service": "compute",
        "resource": "cores",
        "commitment": {
            "id": made["id"],
            "uuid": made["uuid"],
            "availability_zone": "az-one",
            "amount": 10,
            "duration": "1 year",
            "expires_at": NOW + 28 * DAY,
        },
    }
    assert alerts(cloud) == {"alerts": [expected], "counts": {"critical": 0, "warning": 1}}
    cloud.run("UPDATE project_commitments SET expires_at = %s WHERE duration = '1 year'", [NOW + 7 * DAY])
    assert kinds(cloud) == [("commitment_expires", "critical")]
    cloud.run("UPDATE project_commitments SET created_at = %s, confirmed_at = %s", [NOW - DAY, NOW - DAY])
    assert kinds(cloud) == [], "its whole duration is 8 days"
    cloud.run("UPDATE project_commitments SET created_at = %s, confirmed_at = %s", [NOW - 8 * DAY, NOW - 8 * DAY])
    assert kinds(cloud) == [("commitment_expires", "critical")]


@pytest.mark.sql
def test_capacity_that_becomes_much_less(cloud: World) -> None:
    """For those who see the whole cloud."""
    cloud.run("UPDATE project_resources SET usage = 0")
    cloud.run("UPDATE resources SET capacity_drop_seen_at = %s WHERE name = 'ram'", [NOW - 60])
    assert kinds(cloud) == [], "its capacitor has left the configuration"
    cloud.run("UPDATE resources SET capacitor_id = (SELECT id FROM capacitors WHERE name = 'inventory')")
    expected = {
        "kind": "capacity_drop",
        "severity": "warning",
        "service": "compute",
        "resource": "ram",
        "unit": "MiB",
        "capacitor": "inventory",
        "since": NOW - 60,
    }
    assert alerts(cloud) == {"alerts": [expected], "counts": {"critical": 0, "warning": 1}}
    assert kinds(cloud, "?resource=cores") == []
    assert kinds(cloud, path=f"/v1/domains/{GERMANY}") == kinds(cloud, path=PATHS["berlin"]) == []


@pytest.mark.sql
def test_backends_that_fail(cloud: World) -> None:
    cloud.run("UPDATE project_resources SET usage = 0")
    fail_scrapes(cloud)
    answer = cloud.request("GET", "/v1/alerts")
    assert SECRET not in answer.text
    assert answer.json["alerts"] == [
        {"kind": "capacity_unreachable", "severity": "warning", "capacitor": "inventory", "since": 900},
        {
            "kind": "scrapes_fail",
            "severity": "warning",
            "service": "compute",
            "since": 1400,
            "projects": 3,
            "failing_projects": 2,
        },
    ]
    of_domain = {"kind": "backend_unreachable", "severity": "critical", "service": "compute", "since": 1400}
    found = alerts(cloud, path=f"/v1/domains/{GERMANY}")["alerts"]
    assert found == [{**of_domain, "projects": 2, "failing_projects": 2}]
    assert kinds(cloud, path=PATHS["berlin"]) == [("backend_unreachable", "critical")]
    assert kinds(cloud, "?service=volume", path=PATHS["berlin"]) == []
    assert kinds(cloud, path=PATHS["paris"]) == []
    cloud.run("UPDATE project_services SET failing_since = %s", [NOW - 3599])
    assert kinds(cloud, path=PATHS["berlin"]) == [], "not for an hour yet"
    cloud.run("UPDATE project_services SET push_error = 'no' WHERE project_id = 1")
    unwritten = alerts(cloud, "?service=volume", path=PATHS["berlin"])["alerts"]
    assert unwritten == [
        {
            "kind": "quota_not_written",
            "severity": "warning",
            "service": "volume",
            "projects": 1,
            "unwritten_projects": 1,
        }
    ]


def test_a_backend_is_down_though_most_projects_are_not_even_tried(cloud: World) -> None:
    """The circuit is open after five failures, and from then on one project is tried every few minutes."""
    cloud.run("UPDATE project_resources SET usage = 0")
    compute = "service_id = (SELECT id FROM services WHERE type = 'compute')"
    cloud.run(f"UPDATE project_services SET scraped_at = {NOW - 5000} WHERE {compute}")
    failed = "scrape_error = 'no route', checked_at = 1600, scrape_failures = %s, failing_since = %s"
    cloud.run(f"UPDATE project_services SET {failed} WHERE {compute} AND project_id = 1", [4, NOW - 4000])
    assert kinds(cloud) == [("scrapes_fail", "warning")], "a project of its own, for all that is known"
    cloud.run(f"UPDATE project_services SET {failed} WHERE {compute} AND project_id = 2", [1, NOW - 9000])
    assert kinds(cloud) == [("scrapes_fail", "warning")], "the second one has failed for longer than others succeed"
    cloud.run("UPDATE project_services SET scrape_failures = 5 WHERE project_id = 1")
    down = {"kind": "backend_unreachable", "severity": "critical", "service": "compute", "since": NOW - 4000}
    assert alerts(cloud)["alerts"] == [{**down, "projects": 3, "failing_projects": 2}]
    assert alerts(cloud, path=PATHS["paris"])["alerts"] == [{**down, "projects": 1}], "it was not tried"
    cloud.run(f"UPDATE project_services SET scraped_at = {NOW} WHERE {compute} AND project_id = 3")
    assert kinds(cloud) == [("scrapes_fail", "warning")], "it answers again"
    assert kinds(cloud, path=PATHS["paris"]) == []
