"""What a cloud admin has to look after."""

from collections.abc import Callable

import pytest

from limes.catalog.catalog import BehaviorRule
from tests.api.world import BERLIN, DRESDEN, World
from tests.reports.test_attention import IN_GERMANY, PROJECT_BERLIN, PROJECT_DRESDEN


@pytest.mark.sql
def test_the_three_lists(world: World) -> None:
    assert world.get("/v1/inconsistencies") == {
        "inconsistencies": {
            "domain_quota_overcommitted": [
                {
                    "domain": IN_GERMANY,
                    "service": "volume",
                    "resource": "capacity",
                    "unit": "GiB",
                    "domain_quota": 0,
                    "projects_quota": 10,
                }
            ],
            "project_quota_overspent": [
                {"project": PROJECT_DRESDEN, "service": "compute", "resource": "cores", "quota": 30, "usage": 31}
            ],
            "project_quota_mismatch": [
                {
                    "project": PROJECT_BERLIN,
                    "service": "compute",
                    "resource": "ram",
                    "unit": "MiB",
                    "quota": 1024,
                    "backend_quota": 2048,
                },
                {
                    "project": PROJECT_BERLIN,
                    "service": "volume",
                    "resource": "capacity",
                    "unit": "GiB",
                    "quota": 10,
                    "backend_quota": -1,
                },
            ],
        }
    }


def fail(world: World, project: int, service: str, message: str, checked_at: float) -> None:
    """The last scrape of a project's service has failed."""
    world.run(
        "UPDATE project_services SET scrape_error = %s, checked_at = %s WHERE project_id = %s"
        " AND service_id = (SELECT id FROM services WHERE type = %s)",
        [message, checked_at, project, service],
    )


@pytest.mark.sql
def test_scrape_errors_are_grouped(world: World) -> None:
    world.run("UPDATE project_services SET checked_at = 1200")  # by a scrape that went well
    assert world.get("/v1/admin/scrape-errors") == {"scrape_errors": []}
    for project, service, message in ((1, "compute", "down"), (2, "compute", "down"), (1, "volume", "odd")):
        fail(world, project, service, message, 1234.5)
    assert world.get("/v1/admin/scrape-errors") == {
        "scrape_errors": [
            {
                "project": PROJECT_BERLIN,
                "affected_projects": 2,
                "service_type": "compute",
                "checked_at": 1234,
                "message": "down",
            },
            {"project": PROJECT_BERLIN, "service_type": "volume", "checked_at": 1234, "message": "odd"},
        ]
    }


@pytest.mark.sql
def test_the_message_is_the_first_projects_own(world: World) -> None:
    """Two projects have the same error, although the backend names each of them."""
    for project, uuid in ((1, BERLIN), (2, DRESDEN)):
        fail(world, project, "compute", f"no quota of {uuid},\n  says Nova", 1234)
    (error,) = world.get("/v1/admin/scrape-errors")["scrape_errors"]
    assert (error["message"], error["affected_projects"]) == (f"no quota of {BERLIN},\n  says Nova", 2)


def test_what_is_used_up_exactly_is_not_overspent(world: World) -> None:
    sql = (
        "UPDATE project_resources SET usage = %s, backend_quota = 19 WHERE project_id = 1"
        " AND resource_id = (SELECT id FROM resources WHERE name = 'cores')"
    )
    for usage, overspent in ((20, []), (21, [BERLIN])):
        world.engine.execute(sql, [usage])
        found = world.get("/v1/inconsistencies?resource=cores")["inconsistencies"]
        projects = [item["project"]["id"] for item in found["project_quota_overspent"]]
        assert [uuid for uuid in projects if uuid == BERLIN] == overspent
        assert [item["backend_quota"] for item in found["project_quota_mismatch"]] == [19]


@pytest.mark.sql
def test_each_list_has_an_order(world: World) -> None:
    """By the names of domain, project, service and resource, whatever the ids are."""
    for old, new in (("germany", "a"), ("france", "b")):
        world.run("UPDATE domains SET name = %s WHERE name = %s", [new, old])
    for old, new in (("berlin", "y"), ("dresden", "x"), ("paris", "w")):
        world.run("UPDATE projects SET name = %s WHERE name = %s", [new, old])
    world.run("DELETE FROM project_resources")
    world.run("DELETE FROM domain_resources")
    world.run(
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
        " SELECT p.id, r.id, 1, 5, 2 FROM projects p CROSS JOIN resources r WHERE r.name <> 'gpus'"
        " ORDER BY p.id DESC, r.name DESC"
    )
    lists = world.get("/v1/inconsistencies")["inconsistencies"]
    refs = [("compute", "cores"), ("compute", "ram"), ("volume", "capacity")]
    found = [
        (item["domain"]["name"], item["service"], item["resource"]) for item in lists.pop("domain_quota_overcommitted")
    ]
    assert found == [(domain, *ref) for domain in ("a", "b") for ref in refs]
    for items in lists.values():
        found = [(item["project"]["name"], item["service"], item["resource"]) for item in items]
        assert found == [(project, *ref) for project in ("x", "y", "w") for ref in refs]


def test_a_domain_may_give_away_all_that_it_has(world: World) -> None:
    for quota, names in ((10, []), (9, ["capacity"])):
        world.engine.execute(
            "UPDATE domain_resources SET quota = %s"
            " WHERE domain_id = 1 AND resource_id = (SELECT id FROM resources WHERE name = 'capacity')",
            [quota],
        )
        found = world.get("/v1/inconsistencies")["inconsistencies"]["domain_quota_overcommitted"]
        assert [item["resource"] for item in found] == names


@pytest.mark.sql
def test_bursting_projects_are_compared_with_what_they_may_use(make: Callable[..., World]) -> None:
    """And one may burst less than others."""
    rule = BehaviorRule(resource="compute/cores", scope="germany/dresden", max_burst_multiplier=0)
    world = make(burst_multiplier=0.2, behaviors=[rule])
    world.run("UPDATE projects SET has_bursting = %s", [True])
    lists = world.get("/v1/inconsistencies?resource=cores")["inconsistencies"]
    (overspent,) = lists["project_quota_overspent"]
    assert (overspent["project"], overspent["quota"], overspent["usage"]) == (PROJECT_DRESDEN, 30, 31)
    (mismatch,) = lists["project_quota_mismatch"]
    assert (mismatch["project"], mismatch["quota"], mismatch["backend_quota"]) == (PROJECT_BERLIN, 24, 20)


def test_groups_of_scrape_errors(world: World) -> None:
    """The same words of two services are two errors. The groups come by service and the id of the project shown."""
    world.run("UPDATE projects SET name = 'z-berlin' WHERE name = 'berlin'")
    for project, service, message in (
        (1, "volume", "down"),
        (1, "compute", "other"),
        (2, "compute", "down"),
        (3, "compute", "down"),
    ):
        fail(world, project, service, message, 1000 + project)
    found = world.get("/v1/admin/scrape-errors")["scrape_errors"]
    shown = [
        (item["service_type"], item["message"], item["project"]["name"], item.get("affected_projects"))
        for item in found
    ]
    assert shown == [
        ("compute", "other", "z-berlin", None),
        ("compute", "down", "paris", 2),  # france comes before germany
        ("volume", "down", "z-berlin", None),
    ]
    assert found[1]["checked_at"] == 1003, "that of the project that is shown"
