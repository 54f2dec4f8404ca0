"""Quota that grows by itself: it cannot be set, and who asks is told what can be done instead."""

from collections.abc import Callable

import pytest

from tests.api.world import BERLIN, GERMANY, World
from tests.autogrow.growing import bounds, make_growing
from tests.quota.quotas import DOMAIN, PROJECT, put


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    """The small cloud, in which cores grow by themselves."""
    return make_growing(make, sinks=("test",))


PROJECT_TEXT = (
    "it follows usage and commitments by itself (quota_distribution_model is autogrow) and cannot be set;"
    " to limit it, set max_quota or forbid_autogrowth; to raise it, make a commitment or a quota request"
)
DOMAIN_TEXT = (
    "it is the sum of the quotas of the projects, which follow usage and commitments by themselves"
    " (quota_distribution_model is autogrow), and cannot be set; to limit them, set max_quota or forbid_autogrowth"
)


@pytest.mark.parametrize(("path", "text"), [(PROJECT, PROJECT_TEXT), (DOMAIN, DOMAIN_TEXT)])
@pytest.mark.parametrize("quota", [8, 20])
def test_such_quota_cannot_be_set(world: World, path: str, text: str, quota: int) -> None:
    result, changed = put(world, path, bounds(path, "quota", quota))
    assert (result.status_code, result.text) == (409, f"cannot change compute/cores quota: {text}\n")
    assert set(changed) == {"audit_outbox"}


@pytest.mark.parametrize("path", [PROJECT, DOMAIN])
def test_other_resources_of_the_same_request_are_judged_as_ever(world: World, path: str) -> None:
    document = bounds(path, "quota", 8)
    [service] = document["project" if path is PROJECT else "domain"]["services"]
    service["resources"] += [{"name": "ram", "quota": 2048}, {"name": "discs", "quota": 1}]
    assert set(put(world, path, document)[1]) == {"audit_outbox"}
    answer = world.request("POST", f"{path}/simulate-put", json=document)
    assert answer.status_code == 422
    found = {item["name"]: item["status"] for item in answer.json["unacceptable_resources"]}
    assert found == {"cores": 409, "discs": 422}
    del service["resources"][2]
    assert world.request("POST", f"{path}/simulate-put", json=document).status_code == 409
    del service["resources"][0]
    assert world.request("PUT", path, json=document).status_code == 202


@pytest.mark.parametrize(
    ("path", "text", "quota"), [(PROJECT, PROJECT_TEXT, 8), (DOMAIN, DOMAIN_TEXT, 39)], ids=["project", "domain"]
)
def test_an_explanation_says_that_it_cannot_be_set(world: World, path: str, text: str, quota: int) -> None:
    [cores] = world.get(f"{path}/explain?service=compute&resource=cores")["explanations"]
    bound = {"quota": quota, "rule": "quota_distribution_model", "message": text}
    assert (cores["min_acceptable_quota"], cores["max_acceptable_quota"]) == (bound, bound)
    assert (cores["quota"], cores["projects_quota"]) == (quota, 39)
    assert cores.get("domain_quota", 39) == 39
    assert cores.get("other_domains_quota", 0) == 0


def test_rights_say_what_can_be_done(world: World) -> None:
    def rights(token: str) -> tuple[bool, bool]:
        found = world.get(f"/v1/rights?domain_id={GERMANY}&project_id={BERLIN}", token)["rights"]
        return found["domain"]["limit_growth"], found["project"]["limit_growth"]

    assert rights("germany-admin") == (True, True)
    assert rights("berlin-admin") == (False, True)
    assert rights("berlin-member") == (False, False)
