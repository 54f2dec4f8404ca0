"""PUT and simulate-put on domains and projects: decisions, texts, and the rows that changed."""

from typing import Any

import pytest

from tests.api.world import FRANCE, World
from tests.quota.quotas import DOMAIN, PROJECT, body, put, request_quotas
from tests.support.rows import all_rows, changes
from tests.support.statements import count_statements


@pytest.mark.sql
def test_domain_admin_gives_quota_to_projects(world: World) -> None:
    result, changed = put(world, PROJECT, body("project", compute={"cores": 70, "ram": (2, "GiB")}), "germany-admin")
    assert (result.status_code, result.text) == (202, "")
    gone, come = changed.pop("project_resources")
    assert [(row.quota, row.backend_quota) for row in gone] == [(20, 20), (1024, 2048)]
    assert [(row.quota, row.backend_quota) for row in come] == [(70, 20), (2048, 2048)]
    # the backend has to be told
    _, desynced = changed.pop("project_services")
    now = world.clock.now().timestamp()
    marks = [(row.quota_desynced_at, row.next_push_at) for row in desynced]
    assert marks == [(now, now + world.limes.lease)], "by this process or, if it dies now, by a collector"
    recorded = changed.pop("quota_history")[1]
    assert [(row.service_type, row.resource_name, row.what, row.old, row.new) for row in recorded] == [
        ("compute", "cores", "quota", 20, 70),
        ("compute", "ram", "quota", 1024, 2048),
    ]
    assert changed == {}
    assert world.pushed == [(1, ("compute",))]


@pytest.mark.sql
def test_as_many_statements_for_many_quotas_as_for_one(world: World) -> None:
    def put_quotas(**quotas: int) -> int:
        def work() -> None:
            assert request_quotas(world, PROJECT, quotas).status_code == 202

        return count_statements(world.engine, work)

    counts = {put_quotas(cores=21), put_quotas(cores=22, ram=2048)}
    # who it is, the lock, what decides; and the writes, which PostgreSQL gets together
    assert counts == {4 if world.engine.dialect == "postgresql" else 6}


@pytest.mark.sql
def test_quota_where_the_domain_has_no_row_yet(world: World) -> None:
    world.engine.execute("DELETE FROM domain_resources WHERE domain_id = 1")
    result, changed = put(world, PROJECT, body("project", compute={"cores": 10, "ram": 1000}))
    assert result.status_code == 202
    assert [row.quota for row in changed["domain_resources"][1]] == [0, 0]
    assert sorted(row.quota for row in changed["project_resources"][1]) == [10, 1000]


def test_cloud_admin_gives_quota_to_domains(world: World) -> None:
    result, changed = put(world, DOMAIN, body("domain", compute={"cores": 150}, volume={"capacity": (1, "TiB")}))
    assert (result.status_code, result.text) == (202, "")
    assert set(changed) == {"domain_resources", "quota_history"}
    assert sorted(row.quota for row in changed["domain_resources"][1]) == [150, 1024]
    assert world.pushed == []


@pytest.mark.sql
def test_quota_for_a_domain_without_a_row_yet(world: World) -> None:
    result, changed = put(world, f"/v1/domains/{FRANCE}", body("domain", volume={"capacity": 7}))
    assert result.status_code == 202
    assert [row.quota for row in changed["domain_resources"][1]] == [7]


WHO_MAY = {
    PROJECT: "quotas of a project are changed by users with the role resource_admin on the domain, or"
    " cloud_resource_admin; a quota request asks them for more\n",
    DOMAIN: "quotas of a domain are changed by users with the role cloud_resource_admin; a quota request asks them for"
    " more\n",
}


@pytest.mark.parametrize(
    ("path", "quotas", "token", "status", "refusals"),
    [
        (PROJECT, {"cores": 71}, "germany-admin", 409,
         ["cores quota: domain quota exceeded (maximum acceptable project quota is 70)"]),
        (PROJECT, {"cores": 4}, "berlin-admin", 409,
         ["cores quota: quota may not be lower than current usage (minimum acceptable project quota is 5)"]),
        (PROJECT, {"cores": 21}, "berlin-admin", 403,
         ['cores quota: user is not allowed to raise "compute" quotas in this project']),
        (PROJECT, {"cores": 19}, "berlin-member", 403,
         ['cores quota: user is not allowed to lower "compute" quotas in this project']),
        (PROJECT, {"cores": (1, "MiB"), "ram": (1, "KiB"), "gpus": 1, "discs": 1}, "cloud-admin", 422,
         ["cores quota: cannot convert value from MiB to <count> because units are incompatible",
          "discs quota: no such resource",
          "gpus quota: resource does not track quota",
          "ram quota: value of 1 KiB cannot be represented as integer number of MiB"]),
        (PROJECT, {"cores": 2**63 - 1}, "cloud-admin", 422,
         ["cores quota: value of 9223372036854775807 is too large: the maximum is 9223372036854775806"]),
        (PROJECT, {"gpus": 1}, "cloud-admin", 403, ["gpus quota: resource does not track quota"]),
        (DOMAIN, {"cores": 49}, "cloud-admin", 409,
         ["cores quota: domain quota may not be smaller than sum of project quotas in that domain"
          " (minimum acceptable domain quota is 50)"]),
        (DOMAIN, {"cores": 101}, "germany-admin", 403,
         ['cores quota: user is not allowed to raise "compute" quotas in this domain']),
    ],
)  # fmt: skip
def test_refusals_change_nothing(
    world: World, path: str, quotas: dict[str, Any], token: str, status: int, refusals: list[str]
) -> None:
    document = body("project" if path is PROJECT else "domain", compute=quotas)
    result, changed = put(world, path, document, token)
    expected = [f"cannot change compute/{one}\n" for one in refusals]
    if "user is not allowed" in expected[0]:
        expected.append(WHO_MAY[path])
    assert (result.status_code, result.text) == (status, "".join(expected))
    assert result.headers["content-type"] == "text/plain; charset=utf-8"
    assert changed == {}
    assert world.pushed == []


def test_the_present_value_may_be_put_by_anybody_who_sees_it(world: World) -> None:
    result, changed = put(world, PROJECT, body("project", compute={"cores": 20}), "berlin-member")
    assert (result.status_code, changed, world.pushed) == (202, {}, [])


def test_backend_errors_do_not_take_the_quota_back(world: World) -> None:
    world.push_errors = ["compute: connection refused"]
    result, changed = put(world, PROJECT, body("project", compute={"cores": 30}))
    assert (result.status_code, result.text) == (
        202,
        "quotas have been accepted, but some error(s) occurred while trying to write the quotas into the backend"
        " services:\ncompute: connection refused\n",
    )
    assert "project_resources" in changed


def simulate(world: World, path: str, document: dict[Any, Any], token: str = "cloud-admin") -> tuple[Any, Any]:
    before = all_rows(world.engine)
    result = world.request("POST", f"{path}/simulate-put", token, json=document)
    assert changes(before, all_rows(world.engine)) == {}
    assert world.pushed == []
    return result.status_code, result.json


def test_simulated_success(world: World) -> None:
    assert simulate(world, PROJECT, body("project", compute={"cores": 30})) == (200, {"success": True})
    assert simulate(world, DOMAIN, body("domain", compute={"cores": 130})) == (200, {"success": True})


def test_simulated_refusals(world: World) -> None:
    status, document = simulate(world, PROJECT, body("project", compute={"cores": 71, "ram": (8, "GiB"), "x": 1}))
    assert status == 422
    assert document == {
        "success": False,
        "unacceptable_resources": [
            {
                "service_type": "compute",
                "name": "cores",
                "resource_name": "cores",
                "status": 409,
                "message": "domain quota exceeded",
                "max_acceptable_quota": 70,
            },
            {
                "service_type": "compute",
                "name": "ram",
                "resource_name": "ram",
                "status": 409,
                "message": "domain quota exceeded",
                "max_acceptable_quota": 4096,
                "unit": "MiB",
            },
            {
                "service_type": "compute",
                "name": "x",
                "resource_name": "x",
                "status": 422,
                "message": "no such resource",
            },
        ],
    }


def test_simulated_refusals_with_one_status(world: World) -> None:
    status, document = simulate(world, DOMAIN, body("domain", compute={"cores": 1000, "ram": 9000}), "germany-admin")
    assert status == 403
    assert {item["status"] for item in document["unacceptable_resources"]} == {403}
