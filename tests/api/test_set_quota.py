"""PUT and simulate-put on domains and projects: decisions, texts, and the rows that changed."""

import pytest

from limes.core.catalog import BehaviorRule
from limes.core.constraint_set import ConstraintSet
from limes.core.constraints import Constraint
from limes.core.permissions import LowPrivLimit, LowPrivRules
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS
from tests.support.rows import all_rows, changes

DOMAIN = f"/v1/domains/{GERMANY}"
PROJECT = f"{DOMAIN}/projects/{BERLIN}"


def body(level, **services):
    """`body("project", compute={"cores": 30, "ram": (1, "GiB")})`"""
    return {
        level: {
            "services": [
                {
                    "type": service,
                    "resources": [
                        {"name": name, "quota": value[0], "unit": value[1]}
                        if isinstance(value, tuple)
                        else {"name": name, "quota": value}
                        for name, value in resources.items()
                    ],
                }
                for service, resources in services.items()
            ]
        }
    }


def put(world, path, document, token="cloud-admin"):
    before = all_rows(world.engine)
    result = world.request("PUT", path, token, json=document)
    return result, changes(before, all_rows(world.engine))


def test_domain_admin_gives_quota_to_projects(world):
    result, changed = put(world, PROJECT, body("project", compute={"cores": 70, "ram": (2, "GiB")}), "germany-admin")
    assert (result.status_code, result.text) == (202, "")
    gone, come = changed.pop("project_resources")
    assert [(row[2], row[3]) for row in gone] == [(20, 20), (1024, 2048)]
    assert [(row[2], row[3]) for row in come] == [(70, 20), (2048, 2048)]
    # the backend has to be told, even if this process dies now
    _, desynced = changed.pop("project_services")
    assert [(row[9], row[10]) for row in desynced] == [(world.clock.now().timestamp(),) * 2]
    assert [row[4:9] for row in changed.pop("quota_history")[1]] == [
        ("compute", "cores", "quota", 20, 70),
        ("compute", "ram", "quota", 1024, 2048),
    ]
    assert changed == {}
    assert world.pushed == [(1, ("compute",))]


def test_cloud_admin_gives_quota_to_domains(world):
    result, changed = put(world, DOMAIN, body("domain", compute={"cores": 500}, volume={"capacity": (1, "TiB")}))
    assert (result.status_code, result.text) == (202, "")
    assert set(changed) == {"domain_resources", "quota_history"}
    assert sorted(row[2] for row in changed["domain_resources"][1]) == [500, 1024]
    assert world.pushed == []


def test_quota_for_a_domain_without_a_row_yet(world):
    result, changed = put(world, f"/v1/domains/{FRANCE}", body("domain", volume={"capacity": 7}))
    assert result.status_code == 202
    assert [row[2] for row in changed["domain_resources"][1]] == [7]


@pytest.mark.parametrize(
    ("path", "document", "token", "status", "text"),
    [
        (
            PROJECT,
            body("project", compute={"cores": 71}),
            "germany-admin",
            409,
            "cannot change compute/cores quota: domain quota exceeded (maximum acceptable project quota is 70)\n",
        ),
        (
            PROJECT,
            body("project", compute={"cores": 4}),
            "berlin-admin",
            409,
            "cannot change compute/cores quota: quota may not be lower than current usage"
            " (minimum acceptable project quota is 5)\n",
        ),
        (
            PROJECT,
            body("project", compute={"cores": 21}),
            "berlin-admin",
            403,
            'cannot change compute/cores quota: user is not allowed to raise "compute" quotas in this project\n',
        ),
        (
            PROJECT,
            body("project", compute={"cores": 19}),
            "berlin-member",
            403,
            'cannot change compute/cores quota: user is not allowed to lower "compute" quotas in this project\n',
        ),
        (
            PROJECT,
            body("project", compute={"cores": (1, "MiB"), "ram": (1, "KiB"), "gpus": 1, "discs": 1}, dns={"zones": 1}),
            "cloud-admin",
            422,
            "cannot change compute/cores quota: cannot convert value from MiB to <count> because units are incompatible\n"
            "cannot change compute/discs quota: no such resource\n"
            "cannot change compute/gpus quota: resource does not track quota\n"
            "cannot change compute/ram quota: value of 1 KiB cannot be represented as integer number of MiB\n"
            "cannot change dns/zones quota: no such service\n",
        ),
        (
            PROJECT,
            body("project", compute={"cores": 2**62}),
            "cloud-admin",
            422,
            "cannot change compute/cores quota: value of 4611686018427387904 is too large: the maximum is"
            " 72057594037927936\n",
        ),
        (
            PROJECT,
            body("project", compute={"gpus": 1}),
            "cloud-admin",
            403,
            "cannot change compute/gpus quota: resource does not track quota\n",
        ),
        (
            DOMAIN,
            body("domain", compute={"cores": 49}),
            "cloud-admin",
            409,
            "cannot change compute/cores quota: domain quota may not be smaller than sum of project quotas in that"
            " domain (minimum acceptable domain quota is 50)\n",
        ),
        (
            DOMAIN,
            body("domain", compute={"cores": 101}),
            "germany-admin",
            403,
            'cannot change compute/cores quota: user is not allowed to raise "compute" quotas in this domain\n',
        ),
        (
            f"/v1/domains/{FRANCE}/projects/{PARIS}",
            body("project", compute={"cores": 1}),
            "cloud-admin",
            423,
            "no project report for resource compute/cores"
            " (please retry in a few seconds after initial scraping is done)\n",
        ),
    ],
)
def test_refusals_change_nothing(world, path, document, token, status, text):
    result, changed = put(world, path, document, token)
    assert (result.status_code, result.text) == (status, text)
    assert result.headers["content-type"] == "text/plain; charset=utf-8"
    assert changed == {}
    assert world.pushed == []


def test_one_bad_resource_refuses_all(world):
    result, changed = put(world, PROJECT, body("project", compute={"cores": 30, "ram": (1, "EiB")}))
    assert result.status_code == 409
    assert changed == {}


def test_the_present_value_may_be_put_by_anybody_who_sees_it(world):
    result, changed = put(world, PROJECT, body("project", compute={"cores": 20}), "berlin-member")
    assert (result.status_code, changed, world.pushed) == (202, {}, [])


@pytest.mark.parametrize("raw", ["null", "{}", '{"project": null}', '{"project": {"services": null}}', '{"other": 1}'])
def test_an_empty_change_is_accepted(world, raw):
    before = all_rows(world.engine)
    assert world.request("PUT", PROJECT, body=raw).status_code == 202
    assert changes(before, all_rows(world.engine)) == {}


def test_the_last_of_repeated_entries_wins(world):
    document = {
        "project": {
            "services": [
                {"type": "compute", "resources": [{"name": "ram", "quota": 4000}]},
                {"type": "compute", "resources": [{"name": "cores", "quota": 30}, {"name": "cores", "quota": 31}]},
            ]
        }
    }
    result, changed = put(world, PROJECT, document)
    assert result.status_code == 202
    assert [row[2] for row in changed["project_resources"][1]] == [31]


@pytest.mark.parametrize("unit", [None, "UNSPECIFIED", "MiB"])
def test_units_that_mean_the_resources_own(world, unit):
    result, changed = put(world, PROJECT, body("project", compute={"ram": (2000, unit)}))
    assert result.status_code == 202
    assert [row[2] for row in changed["project_resources"][1]] == [2000]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "request body is not valid JSON: "),
        (b"{", "request body is not valid JSON: "),
        (b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": -1}]}]}}', "quota"),
        (b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 1.5}]}]}}', "quota"),
        (b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": "5"}]}]}}', "quota"),
        (b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": true}]}]}}', "quota"),
        (
            b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores"}]}]}}',
            "quota: Field required",
        ),
        (
            b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": '
            + b"9" * 40
            + b"}]}]}}",
            "quota",
        ),
        (b'{"project": {"services": {"compute": {}}}}', "project.services"),
        (b"[]", "request body is not valid JSON: "),
        (b'"text"', "request body is not valid JSON: "),
    ],
)
@pytest.mark.parametrize("method_and_path", [("PUT", PROJECT), ("POST", f"{PROJECT}/simulate-put")])
def test_bad_bodies(world, method_and_path, raw, message):
    before = all_rows(world.engine)
    result = world.request(*method_and_path, body=raw, headers={"Content-Type": "application/json"})
    assert result.status_code == 400
    assert result.text.startswith("request body is not valid JSON: ")
    assert message in result.text
    assert changes(before, all_rows(world.engine)) == {}


def test_backend_errors_do_not_take_the_quota_back(world):
    world.push_errors = ["compute: connection refused"]
    result, changed = put(world, PROJECT, body("project", compute={"cores": 30}))
    assert (result.status_code, result.text) == (
        202,
        "quotas have been accepted, but some error(s) occurred while trying to write the quotas into the backend"
        " services:\ncompute: connection refused\n",
    )
    assert "project_resources" in changed


def simulate(world, path, document, token="cloud-admin"):
    before = all_rows(world.engine)
    result = world.request("POST", f"{path}/simulate-put", token, json=document)
    assert changes(before, all_rows(world.engine)) == {}
    assert world.pushed == []
    return result.status_code, result.json


def test_simulated_success(world):
    assert simulate(world, PROJECT, body("project", compute={"cores": 30})) == (200, {"success": True})
    assert simulate(world, DOMAIN, body("domain", compute={"cores": 130})) == (200, {"success": True})


def test_simulated_refusals(world):
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


def test_simulated_refusals_with_one_status(world):
    status, document = simulate(world, DOMAIN, body("domain", compute={"cores": 1000, "ram": 9000}), "germany-admin")
    assert status == 403
    assert {item["status"] for item in document["unacceptable_resources"]} == {403}


def test_constraints_and_minimum(make):
    import re

    world = make(
        constraints=ConstraintSet(
            domains={"germany": {("compute", "cores"): Constraint(90, None)}},
            projects={"germany/berlin": {("compute", "ram"): Constraint(None, 2048)}},
        ),
        behaviors=[BehaviorRule(re.compile("compute/cores"), min_nonzero_project_quota=10)],
    )
    result, _ = put(world, PROJECT, body("project", compute={"cores": 6, "ram": 3000}))
    assert (result.status_code, result.text) == (
        422,
        "cannot change compute/cores quota: must allocate at least 10 quota (minimum acceptable project quota is 10)\n"
        'cannot change compute/ram quota: requested value "3000 MiB" contradicts constraint "at most 2048 MiB" for this'
        " project and resource (maximum acceptable project quota is 2048 MiB)\n",
    )
    result, _ = put(world, DOMAIN, body("domain", compute={"cores": 80}))
    assert result.status_code == 422


def test_low_privilege_raise(make):
    world = make(
        lowpriv=LowPrivRules(
            projects={("compute", "cores"): LowPrivLimit(amount=25)},
            domains={("compute", "cores"): LowPrivLimit(until_percent_assigned=100)},
        )
    )
    assert put(world, PROJECT, body("project", compute={"cores": 25}), "berlin-admin")[0].status_code == 202
    result, _ = put(world, PROJECT, body("project", compute={"cores": 26}), "berlin-admin")
    assert (result.status_code, result.text) == (
        403,
        'cannot change compute/cores quota: user is not allowed to raise "compute" quotas that high in this project'
        " (maximum acceptable project quota is 25)\n",
    )
    # 201 capacity - 50 for france
    assert put(world, DOMAIN, body("domain", compute={"cores": 151}), "germany-admin")[0].status_code == 202
    assert put(world, DOMAIN, body("domain", compute={"cores": 152}), "germany-admin")[0].status_code == 403


def test_raising_towards_a_usage_that_is_above(world):
    path = f"{DOMAIN}/projects/{DRESDEN}"
    world.engine.atomic(lambda: world.engine.execute("UPDATE project_resources SET usage = 60 WHERE project_id = 2"))
    assert put(world, path, body("project", compute={"cores": 40}))[0].status_code == 202
    assert put(world, path, body("project", compute={"cores": 39}))[0].status_code == 409


@pytest.mark.parametrize(
    ("low", "high", "wanted", "message"),
    [
        (None, 25, 26, "not acceptable for this project (maximum acceptable project quota is 25)"),
        (None, 25, 25, None),
        (15, None, 14, "not acceptable for this project (minimum acceptable project quota is 15)"),
        (15, None, 15, None),
        (0, 0, 21, "not acceptable for this project (minimum acceptable project quota is 0, maximum acceptable project quota is 0)"),
        (0, 0, 20, None),  # what it has already can stay
    ],
)  # fmt: skip
def test_what_the_backend_does_not_accept(world, low, high, wanted, message):
    world.engine.atomic(
        lambda: world.engine.execute(
            "UPDATE project_resources SET min_backend_quota = %s, max_backend_quota = %s WHERE project_id = 1"
            " AND resource_id = (SELECT id FROM resources WHERE name = 'cores')",
            [low, high],
        )
    )
    document = body("project", compute={"cores": wanted})
    simulated = world.request("POST", f"{PROJECT}/simulate-put", json=document)
    result, changed = put(world, PROJECT, document)
    if message is None:
        assert (simulated.status_code, result.status_code) == (200, 202), result.text
        return
    assert (simulated.status_code, result.status_code, changed) == (422, 422, {})
    assert result.text == f"cannot change compute/cores quota: {message}\n"
    (refusal,) = simulated.json["unacceptable_resources"]
    assert (refusal.get("min_acceptable_quota"), refusal.get("max_acceptable_quota")) == (low, high)
    assert "unit" not in refusal
