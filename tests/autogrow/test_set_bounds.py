"""PUT max-quota and forbid-autogrowth: what is written, recorded and refused."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from limes.catalog.catalog import DistributionRule
from limes.quota.constraints import QuotaOverrides
from tests.api.world import BERLIN, DRESDEN, FRANCE, PARIS, World
from tests.audit.test_audit import events, payload
from tests.autogrow.growing import RULE, bounds, make_growing
from tests.commitments.commitments import BEHAVIORS, commit
from tests.quota.quotas import DOMAIN, PROJECT, put, resources
from tests.support.rows import all_rows, changes

MAX_QUOTA, FORBID = "max-quota", "forbid-autogrowth"


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    """The small cloud, in which cores grow by themselves."""
    return make_growing(make, sinks=("test",))


def limit(world: World, path: str, amount: Any, token: str = "cloud-admin", **more: Any) -> tuple[Any, dict[str, Any]]:
    return put(world, f"{path}/{MAX_QUOTA}", bounds(path, "max_quota", amount, **more), token)


def forbid(world: World, path: str, value: Any, token: str = "cloud-admin", **more: Any) -> tuple[Any, dict[str, Any]]:
    return put(world, f"{path}/{FORBID}", bounds(path, "forbid_autogrowth", value, **more), token)


# -- of a project ------------------------------------------------------------------------------------------------------


def test_a_project_admin_limits_growth(world: World) -> None:
    result, changed = limit(world, PROJECT, 10, "berlin-admin")
    assert (result.status_code, result.text) == (202, "")
    assert [row.max_quota for row in changed.pop("project_resources")[1]] == [10]
    assert [row.quota_due_at for row in changed.pop("resources")[1]] == [world.clock.now().timestamp()]
    [entry] = changed.pop("quota_history")[1]
    assert (entry.service_type, entry.resource_name, entry.what, entry.old, entry.new) == (
        "compute", "cores", "max_quota", None, 10,
    )  # fmt: skip
    assert (entry.reason, entry.initiator_id) == ("request", "u6")
    [event] = [json.loads(row.document) for row in changed.pop("audit_outbox")[1]]
    assert event["target"]["typeURI"] == "service/compute/cores/max-quota"
    assert payload(event) == {"newMaxQuota": 10}
    assert changed == {}
    assert world.pushed == [], "a computation comes first"
    assert resources(world, PROJECT)["cores"]["max_quota"] == 10


def test_null_takes_the_limit_away(world: World) -> None:
    limit(world, PROJECT, 10)
    result, changed = limit(world, PROJECT, None, "berlin-admin")
    assert (result.status_code, [row.max_quota for row in changed["project_resources"][1]]) == (202, [None])
    assert "max_quota" not in resources(world, PROJECT)["cores"]
    newest = world.get(f"{PROJECT}/history")["history"][0]
    assert (newest["what"], newest["old"], newest["new"]) == ("max_quota", 10, None)


def test_a_project_admin_forbids_growth(world: World) -> None:
    assert "forbid_autogrowth" not in resources(world, PROJECT)["cores"]
    result, changed = forbid(world, PROJECT, True, "berlin-admin")
    assert (result.status_code, result.text) == (202, "")
    assert set(changed) == {"project_resources", "resources", "quota_history", "audit_outbox"}
    assert resources(world, PROJECT)["cores"]["forbid_autogrowth"] is True
    newest = world.get(f"{PROJECT}/history")["history"][0]
    assert (newest["what"], newest["old"], newest["new"]) == ("forbid_autogrowth", False, True)
    assert forbid(world, PROJECT, False)[0].status_code == 202
    assert "forbid_autogrowth" not in resources(world, PROJECT)["cores"]


@pytest.mark.parametrize(("put_again", "value"), [(limit, 10), (forbid, True)])
def test_what_is_there_already_changes_nothing(world: World, put_again: Any, value: Any) -> None:
    put_again(world, PROJECT, value)
    result, changed = put_again(world, PROJECT, value)
    assert (result.status_code, changed) == (202, {})


def test_a_limit_may_be_given_in_another_unit(make: Callable[..., World]) -> None:
    world = make(distributions=[DistributionRule(re.compile("compute/ram"), "autogrow", autogrow=RULE)])
    _, changed = limit(world, PROJECT, 2, resource="ram", unit="GiB")
    assert [row.max_quota for row in changed["project_resources"][1]] == [2048]
    result, changed = limit(world, PROJECT, 1, resource="ram", unit="KiB")
    assert (result.status_code, changed) == (422, {})
    assert result.text == (
        "cannot change compute/ram max_quota: value of 1 KiB cannot be represented as integer number of MiB\n"
    )


def test_a_limit_below_what_is_needed_is_accepted_with_a_warning(world: World) -> None:
    result, changed = limit(world, PROJECT, 4)
    assert result.status_code == 202
    assert result.text == (
        "the bounds have been accepted, with a warning:\n"
        "compute/cores: usage and commitments need 5;"
        " the limit of 4 takes effect when they need no more than that\n"
    )
    assert [row.max_quota for row in changed["project_resources"][1]] == [4]
    assert limit(world, PROJECT, 4)[0].text == result.text, "it is as true when it is said again"
    assert limit(world, PROJECT, 5)[0].text == ""


def test_commitments_are_needed_az_by_az(make: Callable[..., World]) -> None:
    """3 are committed to in the AZ where 2 are used, and 3 are used in the other."""
    world = make_growing(make, behaviors=BEHAVIORS)
    assert commit(world, amount=3)["status"] == "confirmed"
    assert "need 6;" in limit(world, PROJECT, 5)[0].text
    assert limit(world, PROJECT, 6)[0].text == ""


def test_commitments_for_all_azs_together_are_needed_beyond_usage(make: Callable[..., World]) -> None:
    """512 MiB are used; 600 are committed to."""
    ram = DistributionRule(re.compile("compute/ram"), "autogrow", autogrow=RULE)
    world = make(distributions=[ram], behaviors=BEHAVIORS)
    world.run("UPDATE project_az_resources SET az = 'az-one' WHERE usage = 512")
    commit(world, resource_name="ram", availability_zone="any", duration="1 year", amount=600)
    assert "need 600 MiB;" in limit(world, PROJECT, 599, resource="ram")[0].text
    assert limit(world, PROJECT, 600, resource="ram")[0].text == ""


def test_an_override_is_stronger(make: Callable[..., World]) -> None:
    overrides = QuotaOverrides({("germany", "berlin"): {("compute", "cores"): 17}})
    world = make_growing(make, overrides=overrides)
    said = "the bounds have been accepted, with a warning:\ncompute/cores: the operator has set "
    for change, value in ((limit, 2), (forbid, True)):
        result, changed = change(world, PROJECT, value)
        assert (result.status_code, "project_resources" in changed) == (202, True)
        assert result.text == f"{said}this quota to 17, whatever its bounds\n"
        result, _ = change(world, DOMAIN, value)
        assert result.text.startswith(f"{said}the quota of 1 project, whatever its bounds\n")
    assert "need more than 2 in 1 project;" in limit(world, DOMAIN, 2)[0].text, "that is dresden"


REFUSALS = [
    ({"resource": "ram"}, 409, "compute/ram {}: the quota of this resource does not grow by itself"
     " (quota_distribution_model is hierarchical); set the quota instead"),
    ({"resource": "gpus"}, 403, "compute/gpus {}: resource does not track quota"),
    ({"resource": "discs"}, 422, "compute/discs {}: no such resource"),
    ({"service": "dns"}, 422, "dns/cores {}: no such service"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "status", "text"), REFUSALS)
@pytest.mark.parametrize("path", [PROJECT, DOMAIN])
@pytest.mark.parametrize(("change", "value", "what"), [(limit, 10, "max_quota"), (forbid, True, "forbid_autogrowth")])
def test_refusals(
    world: World, path: str, change: Any, value: Any, what: str, where: dict[str, str], status: int, text: str
) -> None:
    result, changed = change(world, path, value, **where)
    assert (result.status_code, result.text) == (status, f"cannot change {text.format(what)}\n")
    assert set(changed) <= {"audit_outbox"}, "refusals are events, and nothing else"


@pytest.mark.sql
def test_too_large_a_limit(world: World) -> None:
    result, changed = limit(world, PROJECT, 2**63 - 1)
    assert (result.status_code, set(changed)) == (422, {"audit_outbox"})
    assert result.text == (
        "cannot change compute/cores max_quota: value of 9223372036854775807 is too large: the maximum is"
        " 9223372036854775806\n"
    )
    assert limit(world, PROJECT, 2**63 - 2)[0].status_code == 202


@pytest.mark.parametrize("path", [PROJECT, DOMAIN])
def test_one_refusal_refuses_all(world: World, path: str) -> None:
    document = bounds(path, "max_quota", 10)
    [service] = document["project" if path is PROJECT else "domain"]["services"]
    service["resources"].append({"name": "ram", "max_quota": 10})
    result, changed = put(world, f"{path}/{MAX_QUOTA}", document)
    assert (result.status_code, set(changed)) == (409, {"audit_outbox"})
    [event] = events(world)
    assert (event["outcome"], event["target"]["typeURI"]) == ("failure", "service/compute/ram/max-quota")


@pytest.mark.parametrize(
    ("what", "field", "value"),
    [
        (MAX_QUOTA, "max_quota", -1),
        (MAX_QUOTA, "max_quota", 1.5),
        (MAX_QUOTA, "max_quota", "5"),
        (MAX_QUOTA, "max_quota", True),
        (MAX_QUOTA, "maximum", 5),
        (FORBID, "forbid_autogrowth", None),
        (FORBID, "forbid_autogrowth", 1),
        (FORBID, "forbid_autogrowth", "yes"),
        (FORBID, "forbidden", True),
    ],
)
@pytest.mark.parametrize("path", [PROJECT, DOMAIN])
def test_bad_bodies(world: World, path: str, what: str, field: str, value: Any) -> None:
    result, changed = put(world, f"{path}/{what}", bounds(path, field, value))
    assert (result.status_code, changed) == (400, {})
    assert result.text.startswith("request body is not valid JSON: ")


def test_what_was_never_scraped_has_no_bounds_yet(world: World) -> None:
    result, changed = limit(world, f"/v1/domains/{FRANCE}/projects/{PARIS}", 10)
    assert (result.status_code, changed) == (423, {})
    assert result.text.startswith("no project report for resource compute/cores")


@pytest.mark.sql
def test_if_match(world: World) -> None:
    """The tag is that of the bounds, not of a quota that changes by itself."""

    def tag() -> str:
        return str(world.request("GET", PROJECT).headers["etag"])

    first = tag()
    world.run("UPDATE project_resources SET quota = 9 WHERE quota = 8")
    assert tag() == first
    document, path = bounds(PROJECT, "max_quota", 10), f"{PROJECT}/{MAX_QUOTA}"
    assert world.request("PUT", path, json=document, headers={"If-Match": first}).status_code == 202
    assert tag() != first
    before = all_rows(world.engine)
    other = bounds(PROJECT, "max_quota", 11)
    assert world.request("PUT", path, json=other, headers={"If-Match": first}).status_code == 412
    assert changes(before, all_rows(world.engine)) == {}
    second = tag()
    forbid(world, PROJECT, True)
    assert tag() not in (first, second)
    whole, part = (
        world.request("GET", PROJECT, query_string=query).headers["etag"] for query in ("", "service=volume")
    )
    assert whole == part


# -- of all projects of a domain ---------------------------------------------------------------------------------------


@pytest.mark.sql
def test_a_domain_admin_limits_all_projects(world: World) -> None:
    limit(world, PROJECT, 40)
    result, changed = limit(world, DOMAIN, 40, "germany-admin")
    assert (result.status_code, result.text) == (202, "")
    assert [(row.project_id, row.max_quota) for row in changed["project_resources"][1]] == [(2, 40)]
    [entry] = changed["quota_history"][1]
    assert (entry.project_uuid, entry.new, entry.detail) == (DRESDEN, 40, "for all projects of the domain")
    assert len(changed["audit_outbox"][1]) == 1
    result, changed = limit(world, DOMAIN, 41)
    assert {row.project_uuid for row in changed["quota_history"][1]} == {BERLIN, DRESDEN}
    assert limit(world, DOMAIN, None)[0].status_code == 202
    assert "max_quota" not in resources(world, PROJECT)["cores"]


def test_a_domain_admin_forbids_growth_in_all_projects(world: World) -> None:
    result, changed = forbid(world, DOMAIN, True, "germany-admin")
    assert (result.status_code, result.text) == (202, "")
    assert len(changed["project_resources"][1]) == len(changed["quota_history"][1]) == 2
    assert forbid(world, DOMAIN, True)[1] == {}


@pytest.mark.sql
def test_projects_that_need_more_are_counted(world: World) -> None:
    result, _ = limit(world, DOMAIN, 6)
    assert (result.status_code, result.text) == (
        202,
        "the bounds have been accepted, with a warning:\n"
        "compute/cores: usage and commitments need more than 6 in 1 project;"
        " there the limit takes effect when they need no more than that\n",
    )


@pytest.mark.sql
def test_projects_that_were_never_scraped_are_counted(world: World) -> None:
    result, changed = limit(world, f"/v1/domains/{FRANCE}", 6)
    assert (result.status_code, changed) == (202, {})
    assert result.text == (
        "the bounds have been accepted, with a warning:\n"
        "compute/cores: nothing is set for 1 project whose usage is not known yet\n"
    )
