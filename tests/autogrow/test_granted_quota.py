"""Quota that grows by itself, granted to a project however little it uses: PUT min-quota, and requests."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from limes.quota.constraints import Constraint, ConstraintSet
from limes.requests.rules import AutoApprovalRule
from tests.api.world import BERLIN, DRESDEN, World
from tests.autogrow.growing import bounds, make_growing
from tests.quota.quotas import PROJECT, put, resources
from tests.requests.quota_requests import act, ask, asked, quota, show
from tests.support.rows import all_rows, changes

DRESDEN_PATH = PROJECT.replace(BERLIN, DRESDEN)


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    """The small cloud, in which cores grow by themselves: of 201, berlin uses 5 and dresden 31."""
    return make_growing(make, sinks=("test",))


def grant(world: World, amount: Any, token: str = "cloud-admin", path: str = PROJECT) -> tuple[Any, dict[str, Any]]:
    return put(world, f"{path}/min-quota", bounds(path, "min_quota", amount), token)


def explained(world: World) -> Any:
    return world.get(f"{PROJECT}/explain?service=compute&resource=cores")["explanations"][0]["growth"]


def test_a_cloud_admin_grants_quota_and_takes_it_back(world: World) -> None:
    result, changed = grant(world, 60)
    assert (result.status_code, result.text) == (202, "")
    assert [row.min_quota for row in changed.pop("project_resources")[1]] == [60]
    assert [row.quota_due_at for row in changed.pop("resources")[1]] == [world.clock.now().timestamp()]
    [entry] = changed.pop("quota_history")[1]
    assert (entry.what, entry.old, entry.new) == ("min_quota", None, 60)
    [event] = [json.loads(row.document) for row in changed.pop("audit_outbox")[1]]
    assert event["target"]["typeURI"] == "service/compute/cores/min-quota"
    assert changed == {}
    assert resources(world, PROJECT)["cores"]["min_quota"] == 60
    growth = explained(world)
    assert growth["computed_quota"] == 60
    assert growth["minimum"] == {"quota": 60, "source": "min-quota"}
    assert "the min_quota that the project was granted" in growth["message"]
    result, changed = grant(world, None)
    assert (result.status_code, [row.min_quota for row in changed["project_resources"][1]]) == (202, [None])
    assert "min_quota" not in resources(world, PROJECT)["cores"]
    assert explained(world)["computed_quota"] == 7


def test_the_limit_of_the_projects_admins_does_not_lower_it(world: World) -> None:
    grant(world, 60)
    limit(world, 10)
    assert explained(world)["computed_quota"] == 60


@pytest.mark.sql
def test_nothing_is_granted_that_others_need_or_were_granted(world: World) -> None:
    result, changed = grant(world, 171)
    assert result.status_code == 409
    assert result.text == (
        "cannot change compute/cores min_quota: the rest of the capacity is needed by other projects, or was granted"
        " to them (maximum acceptable project quota is 170)\n"
    )
    assert set(changed) == {"audit_outbox"}
    assert grant(world, 50, path=DRESDEN_PATH)[0].status_code == 202
    assert "(maximum acceptable project quota is 151)" in grant(world, 152)[0].text
    assert grant(world, 151)[0].status_code == 202
    assert grant(world, 51, path=DRESDEN_PATH)[0].status_code == 409
    assert grant(world, 40, path=DRESDEN_PATH)[0].status_code == 202, "less takes nothing from anybody"


def test_the_operators_constraint_comes_first(make: Callable[..., World]) -> None:
    constraint = Constraint(maximum=20)
    world = make_growing(
        make, constraints=ConstraintSet(projects={"germany/berlin": {("compute", "cores"): constraint}})
    )
    result, _ = grant(world, 21)
    assert result.status_code == 409
    assert "it may not exceed the operator's constraint: at most 20" in result.text
    assert grant(world, 20)[0].status_code == 202


@pytest.mark.parametrize("amount", [-1, "x", 2**63, True, [1]])
def test_what_is_no_amount_is_refused(world: World, amount: Any) -> None:
    result, changed = grant(world, amount)
    assert (result.status_code, set(changed) <= {"audit_outbox"}) in {(400, True), (422, True)}


# -- requests ----------------------------------------------------------------------------------------------------------


def test_a_request_for_quota_that_grows_grants_it(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40, "ram": 2048})
    assert show(world, "berlin", id_)["resources"][0] == {
        "service": "compute",
        "resource": "cores",
        "what": "min_quota",
        "present_quota": 8,
        "wanted_quota": 40,
    }
    before = all_rows(world.engine)
    answer = act(world, "berlin", id_, "approve", "germany-admin")
    assert (answer.status_code, answer.text) == (
        403, "cannot change compute/cores quota: user is not allowed to raise min_quota in this project\n"
    )  # fmt: skip
    assert set(changes(before, all_rows(world.engine))) <= {"audit_outbox"}
    assert act(world, "berlin", id_, "approve", "cloud-admin").status_code == 200
    found = {entry["what"]: entry for entry in world.get(f"{PROJECT}/history?limit=2")["history"]}
    assert (found["min_quota"]["old"], found["min_quota"]["new"]) == (None, 40)
    assert found["min_quota"]["detail"] == found["quota"]["detail"] == f"quota request {id_}"
    assert resources(world, PROJECT)["cores"]["min_quota"] == 40


@pytest.mark.sql
def test_nothing_is_half_granted(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 171, "ram": 2048})
    before = all_rows(world.engine)
    answer = act(world, "berlin", id_, "approve", "cloud-admin")
    assert (answer.status_code, "maximum acceptable project quota is 170" in answer.text) == (409, True)
    assert set(changes(before, all_rows(world.engine))) <= {"audit_outbox"}
    assert show(world, "berlin", id_)["status"] == "open"
    lowered = {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 170}]}]}
    assert act(world, "berlin", id_, "approve", "cloud-admin", **lowered).status_code == 200
    assert show(world, "berlin", id_)["status"] == "partly_approved"


@pytest.mark.sql
def test_a_larger_grant_of_meanwhile_stays(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    grant(world, 50)
    assert act(world, "berlin", id_, "approve", "cloud-admin").status_code == 200
    assert resources(world, PROJECT)["cores"]["min_quota"] == 50


def test_it_is_not_passed_on_as_it_comes_from_no_domain(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    answer = act(world, "berlin", id_, "pass-on", "germany-admin")
    assert answer.status_code == 409
    assert "cloud admins can approve it where it is" in answer.text


def test_the_approval_above_grants_quota_only(world: World) -> None:
    """Whoever decides on the domain's request sees its ram, and may have no right to grant cores to projects."""
    id_ = asked(world, "berlin", compute={"cores": 60, "ram": 9000})
    passed_on = act(world, "berlin", id_, "pass-on", "germany-admin")
    assert passed_on.status_code == 201, passed_on.text
    above = passed_on.json["quota_request"]["id"]
    assert act(world, "germany", above, "approve", "cloud-admin").status_code == 200
    request = show(world, "berlin", id_)
    assert request["status"] == "partly_approved"
    assert "compute/cores grows by itself and was not granted with it" in request["conversation"][-1]["text"]
    assert "min_quota" not in resources(world, PROJECT)["cores"]
    assert quota(world, "berlin", "ram") == 9000


@pytest.mark.parametrize("token", ["berlin-admin", "germany-admin", "cloud-admin"])
def test_rules_grant_nothing_that_grows(make: Callable[..., World], token: str) -> None:
    """Not even for those who could grant it themselves: they do that with PUT."""
    rule = AutoApprovalRule(name="any", resource=re.compile(".*"), up_to_percent=10_000)
    world = make_growing(make, auto_approval=[rule])
    id_ = asked(world, "berlin", token, compute={"cores": 60})
    assert show(world, "berlin", id_)["status"] == "open"
    assert "min_quota" not in resources(world, PROJECT)["cores"]


def test_what_it_has_already_cannot_be_asked_for(world: World) -> None:
    assert ask(world, "berlin", compute={"cores": 8}).status_code == 422


def limit(world: World, amount: int | None) -> None:
    assert put(world, f"{PROJECT}/max-quota", bounds(PROJECT, "max_quota", amount))[0].status_code == 202


def test_a_request_raises_max_quota(world: World) -> None:
    limit(world, 10)
    id_ = asked(world, "berlin", compute={"cores": 30, "ram": 2048})
    assert show(world, "berlin", id_)["resources"][0] == {
        "service": "compute",
        "resource": "cores",
        "what": "max_quota",
        "present_quota": 10,
        "wanted_quota": 30,
    }
    assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 200
    ram, maximum, _ = world.get(f"{PROJECT}/history")["history"]
    if ram["what"] == "max_quota":
        ram, maximum = maximum, ram
    assert (maximum["what"], maximum["old"], maximum["new"]) == ("max_quota", 10, 30)
    assert maximum["detail"] == ram["detail"] == f"quota request {id_}"


def test_a_limit_that_was_raised_or_lifted_meanwhile_stays(world: World) -> None:
    limit(world, 10)
    for meanwhile in (50, None):
        limit(world, 10)
        id_ = asked(world, "berlin", compute={"cores": 30})
        limit(world, meanwhile)
        assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 200
        assert world.get(f"{PROJECT}/history?limit=1")["history"][0]["new"] == meanwhile


def test_a_limit_is_not_raised_if_a_quota_is_refused(world: World) -> None:
    limit(world, 10)
    id_ = asked(world, "berlin", compute={"cores": 30, "ram": 99999})
    before = all_rows(world.engine)
    assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 409
    assert set(changes(before, all_rows(world.engine))) <= {"audit_outbox"}


def test_sums_of_quota_that_grows_cannot_be_asked_for(world: World) -> None:
    result = ask(world, "germany", "germany-admin", compute={"cores": 30})
    assert result.status_code == 422
    assert "it is the sum of the quotas of the projects" in result.text
