"""Alerts and notifications about quota for a time: it ends soon, could not be given back, or could not begin."""

from typing import Any

import pytest

from tests.api.world import GERMANY, World
from tests.notifications.test_notifications import notifier, told
from tests.quota.quotas import request_quotas
from tests.quota.temporary import DAY, START, later, set_quota, use
from tests.requests.quota_requests import PATHS
from tests.support.statements import count_statements


@pytest.fixture
def cloud(cloud: World) -> World:
    """Nothing in it is worth an alert."""
    cloud.run("UPDATE project_resources SET usage = 0")
    return cloud


def alerts(world: World, where: str = "") -> list[dict[str, Any]]:
    """What is about temporary quotas."""
    found: list[dict[str, Any]] = world.get(f"{PATHS[where] if where else '/v1'}/alerts")["alerts"]
    return [alert for alert in found if "temporary" in alert["kind"]]


def kinds(world: World, where: str = "") -> list[tuple[str, str]]:
    return [(alert["kind"], alert.get("project", alert.get("domain"))["name"]) for alert in alerts(world, where)]


def messages(world: World) -> list[dict[str, Any]]:
    return [message for message in told(world) if "temporary" in message["kind"]]


def test_it_ends_soon(cloud: World) -> None:
    set_quota(cloud, "berlin", 50, until=10)
    set_quota(cloud, "dresden", 40, until=5)  # too short for a warning
    later(cloud, 6.5)
    assert alerts(cloud) == []
    later(cloud, 7)
    (found,) = alerts(cloud)
    assert found == {
        "kind": "temporary_quota_ends",
        "severity": "warning",
        "project": found["project"],
        "service": "compute",
        "resource": "cores",
        "quota": 50,
        "temporary_quota": {
            "state": "active",
            "quota": 50,
            "quota_before": 20,
            "from": START,
            "until": START + 10 * DAY,
        },
    }
    assert kinds(cloud, "berlin") == kinds(cloud, "germany") == [("temporary_quota_ends", "berlin")]
    assert kinds(cloud, "dresden") == []
    later(cloud, 10)
    assert alerts(cloud) == []


def test_it_could_not_be_given_back(cloud: World) -> None:
    set_quota(cloud, "berlin", 50, until=3)
    use(cloud, 1, 32)
    later(cloud, 3)
    (found,) = alerts(cloud, "berlin")
    assert (found["kind"], found["since"], found["quota"]) == ("temporary_quota_over", START + 3 * DAY, 32)
    assert found["temporary_quota"]["over_by"] == 12


def test_a_plan_that_could_not_begin(cloud: World) -> None:
    set_quota(cloud, "berlin", 60, start=2, until=9)
    request_quotas(cloud, PATHS["dresden"], {"cores": 75})
    assert alerts(cloud) == []
    later(cloud, 2)
    (found,) = alerts(cloud)
    assert (found["kind"], found["since"]) == ("temporary_quota_waits", START + 2 * DAY)
    assert found["temporary_quota"]["problem"] == "domain quota exceeded"


def test_the_domains_own(cloud: World) -> None:
    set_quota(cloud, "germany", 150, until=10)
    later(cloud, 8)
    (found,) = alerts(cloud)
    assert "project" not in found
    assert (found["domain"], found["quota"]) == ({"id": GERMANY, "name": "germany"}, 150)
    assert kinds(cloud, "germany") == [("temporary_quota_ends", "germany")]
    assert kinds(cloud, "berlin") == []


@pytest.mark.sql
def test_they_are_counted(cloud: World) -> None:
    set_quota(cloud, "germany", 150, until=10)
    set_quota(cloud, "berlin", 50, until=10)
    before = cloud.get("/v1/alerts?limit=1")["counts"]["warning"]
    later(cloud, 8)
    assert cloud.get("/v1/alerts?limit=1")["counts"]["warning"] == before + 2


@pytest.mark.sql
def test_a_list_costs_as_much_as_without(cloud: World) -> None:
    def statements() -> int:
        return count_statements(cloud.engine, lambda: cloud.get("/v1/alerts"))

    statements()
    before = statements()
    set_quota(cloud, "berlin", 50, until=3)
    set_quota(cloud, "germany", 150, until=3)
    assert statements() == before


@pytest.mark.sql
def test_people_are_told_once(cloud: World) -> None:
    """And again after another end was set."""
    job = notifier(cloud)
    set_quota(cloud, "germany", 150, until=10)
    set_quota(cloud, "berlin", 50, until=10)
    job()
    assert messages(cloud) == []
    later(cloud, 8)
    for _ in range(3):
        job()
    found = messages(cloud)
    assert sorted((message["kind"], "project" in message) for message in found) == [
        ("temporary_quota_ends", False),
        ("temporary_quota_ends", True),
    ]
    (message,) = (message for message in found if "project" in message)
    assert message["temporary_quota"] == {"quota": 50, "quota_before": 20, "from": START, "until": START + 10 * DAY}
    assert message["remedy"] == "Delete what is not needed any more, or ask for another end."
    set_quota(cloud, "berlin", 50, until=20)
    job()
    later(cloud, 18)
    job()
    assert len([message for message in messages(cloud) if "project" in message]) == 2


def test_people_are_told_what_was_not_given_back(cloud: World) -> None:
    job = notifier(cloud)
    set_quota(cloud, "berlin", 50, until=3)
    use(cloud, 1, 32)
    for day in (3, 3.1, 3.2):
        later(cloud, day)
        job()
    (message,) = messages(cloud)
    assert (message["kind"], message["quota"], message["temporary_quota"]["over_by"]) == (
        "temporary_quota_over",
        32,
        12,
    )
    assert message["since"] == START + 3 * DAY
