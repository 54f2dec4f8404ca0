"""What needs attention on each level: scrapes that fail, quotas that are nearly used up, commitments that end soon."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.commitments.reading import sample_utilisation
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, World
from tests.commitments.commitments import BEHAVIORS, PATHS, commit

IN_GERMANY = {"id": GERMANY, "name": "germany"}
PROJECT_BERLIN = {"id": BERLIN, "name": "berlin", "domain": IN_GERMANY}
PROJECT_DRESDEN = {"id": DRESDEN, "name": "dresden", "domain": IN_GERMANY}
SECRET = "Keystone at https://10.0.0.7 says: no"
NOW = 1767225600


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return make(behaviors=BEHAVIORS, stale_after=3600.0)


def fail_scrapes(world: World) -> None:
    """Compute fails in both projects of Germany, and the capacitor, too."""
    for project, since in ((1, 1500.0), (2, 1400.0)):
        world.run(
            "UPDATE project_services SET scrape_error = %s, checked_at = 1600, failing_since = %s WHERE project_id = %s"
            " AND service_id = (SELECT id FROM services WHERE type = 'compute')",
            [SECRET, since, project],
        )
    world.run("UPDATE capacitors SET scrape_error = %s, checked_at = 1700", [SECRET])


# -- scrapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_the_state_of_all_scrapes(cloud: World) -> None:
    fail_scrapes(cloud)
    cloud.run("UPDATE project_services SET push_error = 'no' WHERE project_id = 2")
    age = NOW - 1010.5
    stale = {"is_stale": True, "age_seconds": int(age)}
    assert cloud.get("/v1/admin/scrape-status")["scrape_status"] == {
        "checked_at": 1700,
        "services": [
            {
                "type": "compute",
                "area": "compute",
                "projects": 3,
                "failing_projects": 2,
                "failing_since": 1400,
                "unwritten_projects": 1,
                "checked_at": 1600,
                "min_scraped_at": 1010,
                "max_scraped_at": 1020,
                **stale,
            },
            {
                "type": "volume",
                "area": "storage",
                "projects": 3,
                "unwritten_projects": 1,
                "min_scraped_at": 1010,
                "max_scraped_at": 1020,
                **stale,
            },
        ],
        "capacitors": [
            {
                "id": "inventory",
                "scraped_at": 900,
                "checked_at": 1700,
                "message": SECRET,
                "is_stale": True,
                "age_seconds": NOW - 900,
            }
        ],
    }


def test_a_domain_sees_which_services_fail_and_not_what_they_say(cloud: World) -> None:
    fail_scrapes(cloud)
    answer = cloud.request("GET", f"/v1/domains/{GERMANY}/scrape-status", "germany-viewer")
    compute, volume = answer.json["scrape_status"]["services"]
    assert (compute["projects"], compute["failing_projects"], compute["failing_since"]) == (2, 2, 1400)
    assert (volume["projects"], volume.get("failing_projects")) == (2, None)
    assert "10.0.0.7" not in answer.text
    assert "capacitors" not in answer.json["scrape_status"]
    other = cloud.get(f"/v1/domains/{FRANCE}/scrape-status", "france-admin")["scrape_status"]
    assert [one.get("failing_projects") for one in other["services"]] == [None, None]


def test_a_cloud_that_was_never_looked_at(cloud: World) -> None:
    cloud.run("UPDATE project_services SET scraped_at = NULL, checked_at = NULL")
    cloud.run("UPDATE capacitors SET scraped_at = NULL")
    assert cloud.get("/v1/admin/scrape-status")["scrape_status"] == {
        "services": [
            {"type": "compute", "area": "compute", "projects": 3},
            {"type": "volume", "area": "storage", "projects": 3},
        ],
        "capacitors": [{"id": "inventory"}],
    }


# -- quotas ------------------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_the_fullest_quotas_come_first(cloud: World) -> None:
    cloud.run("UPDATE project_resources SET usage = 900 WHERE quota = 1024")
    cloud.run("UPDATE project_resources SET usage = 1 WHERE quota = 0")
    assert cloud.get("/v1/projects/fullest") == {
        "fullest": [
            {
                "project": PROJECT_DRESDEN,
                "service": "compute",
                "resource": "ram",
                "unit": "MiB",
                "quota": 0,
                "usage": 1,
            },
            {"project": PROJECT_DRESDEN, "service": "compute", "resource": "cores", "quota": 30, "usage": 31},
            {
                "project": PROJECT_BERLIN,
                "service": "compute",
                "resource": "ram",
                "unit": "MiB",
                "quota": 1024,
                "usage": 900,
            },
        ],
        "counts": {"above": 3, "above_95": 2, "above_quota": 2},
    }
    shares = [(one["project"]["name"], one["resource"]) for one in cloud.get("/v1/projects/fullest?above=0")["fullest"]]
    assert shares[2:] == [("berlin", "ram"), ("berlin", "capacity"), ("berlin", "cores")]  # 88, 30 and 25 %
    first = cloud.get("/v1/projects/fullest?limit=1&above=20")
    assert [one["resource"] for one in first["fullest"]] == ["ram"]
    assert first["counts"] == {"above": 5, "above_95": 2, "above_quota": 2}
    cores = cloud.get(f"/v1/domains/{GERMANY}/projects/fullest?resource=cores", "germany-viewer")
    assert [one["project"] for one in cores["fullest"]] == [PROJECT_DRESDEN]
    assert cloud.get(f"/v1/domains/{FRANCE}/projects/fullest", "france-admin") == {
        "fullest": [],
        "counts": {"above": 0, "above_95": 0, "above_quota": 0},
    }


@pytest.mark.sql
def test_the_largest_amounts_are_no_problem(cloud: World) -> None:
    cloud.run("UPDATE project_resources SET quota = %s, usage = %s", [2**63 - 1, 2**63 - 2])
    assert cloud.get("/v1/projects/fullest")["counts"]["above_95"] == 6


# -- commitments -------------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_commitments_that_end_soon(cloud: World) -> None:
    soon = commit(cloud, amount=2)  # for an hour
    commit(cloud, amount=3, duration="1 year")
    other = commit(cloud, "dresden", amount=4)
    expected = {
        "project": PROJECT_BERLIN,
        "service": "compute",
        "resource": "cores",
        "id": soon["id"],
        "uuid": soon["uuid"],
        "availability_zone": "az-one",
        "amount": 2,
        "duration": "1 hour",
        "expires_at": NOW + 3600,
    }
    found = cloud.get("/v1/expiring-commitments")
    assert (found["expiring_commitments"][0], found["total"]) == (expected, 2)
    assert [one["id"] for one in found["expiring_commitments"]] == [soon["id"], other["id"]]
    assert cloud.get("/v1/expiring-commitments?limit=1")["total"] == 2
    assert cloud.get("/v1/expiring-commitments?days=366")["total"] == 3
    assert cloud.get("/v1/expiring-commitments?resource=ram") == {"expiring_commitments": [], "total": 0}
    own = cloud.get(f"{PATHS['dresden']}/expiring-commitments", "dresden-admin")
    assert [one["id"] for one in own["expiring_commitments"]] == [other["id"]]
    assert cloud.get(f"/v1/domains/{GERMANY}/expiring-commitments", "germany-viewer")["total"] == 2
    assert cloud.get(f"/v1/domains/{FRANCE}/expiring-commitments", "france-admin")["total"] == 0


def test_what_was_renewed_or_has_ended_is_left_out(cloud: World) -> None:
    one = commit(cloud, amount=2)
    assert cloud.request("POST", f"{PATHS['berlin']}/commitments/{one['id']}/renew").status_code == 202
    assert cloud.get("/v1/expiring-commitments") == {"expiring_commitments": [], "total": 0}
    commit(cloud, amount=2)
    cloud.clock.advance(3600)  # and no job has run since
    assert cloud.get("/v1/expiring-commitments") == {"expiring_commitments": [], "total": 0}


def test_a_commitment_shows_no_transfer_token(cloud: World) -> None:
    one = commit(cloud, amount=2)
    body = {"commitment": {"amount": 2, "transfer_status": "unlisted"}}
    token = cloud.request("POST", f"{PATHS['berlin']}/commitments/{one['id']}/start-transfer", json=body).json
    text = cloud.request("GET", "/v1/expiring-commitments").text
    assert token["commitment"]["transfer_token"] not in text


# -- usage over time ---------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_usage_by_day(cloud: World) -> None:
    commit(cloud, amount=10, duration="1 year")
    sample_utilisation(cloud.limes)
    cloud.clock.advance(86400)
    sample_utilisation(cloud.limes)
    cores, ram = cloud.get("/v1/usage-history?service=compute")["usage_history"]
    assert cores == {
        "service": "compute",
        "resource": "cores",
        "since": 1767225600,
        "days": [{"date": date, "used": 36, "committed": 10} for date in ("2026-01-01", "2026-01-02")],
    }
    assert (ram["unit"], [day["used"] for day in ram["days"]]) == ("MiB", [512, 512])
    (of_project,) = cloud.get(f"{PATHS['berlin']}/usage-history?resource=cores", "berlin-reader")["usage_history"]
    assert [day["used"] for day in of_project["days"]] == [5, 5]
    (today,) = cloud.get(f"/v1/domains/{GERMANY}/usage-history?resource=cores&days=1")["usage_history"]
    assert [day["date"] for day in today["days"]] == ["2026-01-02"]
    assert cloud.get(f"/v1/domains/{FRANCE}/usage-history") == {"granularity": "day", "usage_history": []}


# -- the number of queries ---------------------------------------------------------------------------------------------


@pytest.mark.sql
@pytest.mark.parametrize(
    "path",
    [
        "/v1/admin/scrape-status",
        f"/v1/domains/{GERMANY}/scrape-status",
        "/v1/projects/fullest",
        "/v1/expiring-commitments",
    ],
)
def test_the_number_of_queries_is_fixed(cloud: World, path: str, queries: list[Any]) -> None:
    fail_scrapes(cloud)
    for project in ("berlin", "dresden"):
        commit(cloud, project, amount=1)
    sample_utilisation(cloud.limes)
    queries.clear()
    cloud.get(path)
    assert 0 < len(queries) <= 4
