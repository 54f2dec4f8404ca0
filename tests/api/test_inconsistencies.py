"""What a cloud admin has to look after."""

from tests.api.world import BERLIN, DRESDEN, GERMANY

IN_GERMANY = {"id": GERMANY, "name": "germany"}
PROJECT_BERLIN = {"id": BERLIN, "name": "berlin", "domain": IN_GERMANY}
PROJECT_DRESDEN = {"id": DRESDEN, "name": "dresden", "domain": IN_GERMANY}


def test_the_three_lists(world):
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


def test_filters_and_empty_lists(world):
    lists = world.get("/v1/inconsistencies?service=compute&resource=gpus")["inconsistencies"]
    assert lists == {"domain_quota_overcommitted": [], "project_quota_overspent": [], "project_quota_mismatch": []}


def test_bursting_projects_are_compared_with_what_they_may_use(make):
    world = make(burst_multiplier=0.2)
    world.engine.atomic(lambda: world.engine.execute("UPDATE projects SET has_bursting = %s", [True]))
    lists = world.get("/v1/inconsistencies?resource=cores")["inconsistencies"]
    assert lists["project_quota_overspent"] == []
    assert [
        (item["project"]["name"], item["quota"], item["backend_quota"]) for item in lists["project_quota_mismatch"]
    ] == [
        ("berlin", 24, 20),
        ("dresden", 36, 30),
    ]


def test_scrape_errors_are_grouped(world):
    def fail():
        for project, service, message in ((1, "compute", "down"), (2, "compute", "down"), (1, "volume", "odd")):
            world.engine.execute(
                "UPDATE project_services SET scrape_error = %s, checked_at = 1234.5 WHERE project_id = %s"
                " AND service_id = (SELECT id FROM services WHERE type = %s)",
                [message, project, service],
            )

    assert world.get("/v1/admin/scrape-errors") == {"scrape_errors": []}
    world.engine.atomic(fail)
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


def test_what_is_used_up_exactly_is_not_overspent(world):
    sql = (
        "UPDATE project_resources SET usage = %s, backend_quota = 19 WHERE project_id = 1"
        " AND resource_id = (SELECT id FROM resources WHERE name = 'cores')"
    )
    for usage, overspent in ((20, []), (21, [BERLIN])):
        world.engine.execute(sql, [usage])
        found = world.get("/v1/inconsistencies?resource=cores")["inconsistencies"]
        projects = [one["project"]["id"] for one in found["project_quota_overspent"]]
        assert [one for one in projects if one == BERLIN] == overspent
        assert [one["backend_quota"] for one in found["project_quota_mismatch"]] == [19]
