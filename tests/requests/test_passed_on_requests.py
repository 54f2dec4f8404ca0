"""Requests of domains for more quota, and requests of projects that their domain has passed on."""

from collections.abc import Callable

import pytest

from tests.api.vanishing import vanish
from tests.api.world import BERLIN, World
from tests.audit.test_audit import events, payload
from tests.quota.quotas import request_quotas
from tests.requests.quota_requests import PATHS, act, asked, kinds, quota, show, status


def test_a_domain_asks_for_itself(world: World) -> None:
    id_ = asked(world, "germany", "germany-admin", compute={"cores": 150})
    assert act(world, "germany", id_, "approve", "germany-admin").status_code == 403
    assert act(world, "germany", id_, "approve", "cloud-admin").status_code == 200
    assert quota(world, "germany") == 150
    (change,) = world.get(f"{PATHS['germany']}/history")["history"]
    assert change["detail"] == f"quota request {id_}"


def passed_on(world: World, cores: int = 90) -> tuple[int, int]:
    below = asked(world, "berlin", compute={"cores": cores})
    result = act(world, "berlin", below, "pass-on", "germany-admin", comment="please")
    assert result.status_code == 201, result.text
    above = result.json["quota_request"]
    assert (above["passed_on_from"], above["reason"]) == (below, "please")
    return below, int(above["id"])


@pytest.mark.sql
def test_one_decision_above_releases_the_one_below(world: World) -> None:
    """100 cores in the domain, 30 in dresden: 90 in berlin need 120."""
    below, above = passed_on(world)
    (wanted,) = show(world, "germany", above)["resources"]
    assert (wanted["present_quota"], wanted["wanted_quota"]) == (100, 120)
    assert show(world, "berlin", below)["passed_on_to"] == above
    again = act(world, "berlin", below, "pass-on", "germany-admin")
    assert again.status_code == 409
    assert again.text.endswith(f"already, as quota request {above}\n")
    result = act(world, "germany", above, "approve", "cloud-admin")
    assert result.status_code == 200, result.text
    assert (quota(world, "germany"), quota(world, "berlin")) == (120, 90)
    assert (status(world, "germany", above), status(world, "berlin", below)) == ("approved", "approved")
    assert kinds(world, "berlin", below) == ["opened", "passed_on", "approved"]
    assert world.pushed == [(1, ("compute",))]


@pytest.mark.sql
def test_a_list_of_what_waits_for_another(world: World) -> None:
    """A request that came back from above waits for the domain again."""
    below, above = passed_on(world)
    other = asked(world, "dresden", "dresden-admin", compute={"cores": 31})

    def waiting(passed_on: str) -> list[int]:
        found = world.get(f"{PATHS['germany']}/quota-requests?status=open&level=project&passed_on={passed_on}")
        assert found["total"] == len(found["quota_requests"])
        return [request["id"] for request in found["quota_requests"]]

    assert (waiting("true"), waiting("false")) == ([below], [other])
    act(world, "germany", above, "reject", "cloud-admin", reason="no")
    assert (waiting("true"), waiting("false")) == ([], [other, below])


def test_less_above_is_less_below(world: World) -> None:
    below, above = passed_on(world)
    lower = [{"type": "compute", "resources": [{"name": "cores", "quota": 110}]}]
    assert act(world, "germany", above, "approve", "cloud-admin", services=lower).status_code == 200
    assert (quota(world, "germany"), quota(world, "berlin")) == (110, 80)
    assert status(world, "berlin", below) == status(world, "germany", above) == "partly_approved"


@pytest.mark.sql
def test_what_others_got_meanwhile_is_added(world: World) -> None:
    below, above = passed_on(world)
    assert request_quotas(world, PATHS["dresden"], {"cores": 60}).status_code == 202
    assert act(world, "germany", above, "approve", "cloud-admin").status_code == 200
    assert (quota(world, "germany"), quota(world, "berlin")) == (150, 90)
    assert status(world, "berlin", below) == "approved"


def test_a_refusal_above_gives_the_request_back(world: World) -> None:
    below, above = passed_on(world)
    act(world, "germany", above, "reject", "cloud-admin", reason="no hardware")
    assert status(world, "berlin", below) == "open"
    last = show(world, "berlin", below)["conversation"][-1]
    assert (last["kind"], last["text"]) == ("returned", f"quota request {above} was rejected: no hardware")
    assert "passed_on_to" not in show(world, "berlin", below)
    assert act(world, "berlin", below, "pass-on", "germany-admin").status_code == 201


@pytest.mark.parametrize("verb", ["withdraw", "reject", "approve"])
def test_a_decision_below_closes_what_was_passed_on(world: World, verb: str) -> None:
    below, above = passed_on(world)
    lower = [{"type": "compute", "resources": [{"name": "cores", "quota": 30}]}]
    fields = {"reject": {"reason": "no"}, "approve": {"services": lower}}.get(verb, {})
    assert act(world, "berlin", below, verb, "germany-admin", **fields).status_code == 200
    assert status(world, "germany", above) == "superseded"


@pytest.mark.sql
def test_the_request_of_a_domain_outlives_the_project_that_it_was_made_for(make: Callable[..., World]) -> None:
    world = make(sinks=("log",))
    (_, decided), (below, above) = passed_on(world, 90), passed_on(world, 120)  # the second request replaces the first
    other = asked(world, "dresden", "dresden-admin", compute={"cores": 100})
    kept = act(world, "dresden", other, "pass-on", "germany-admin").json["quota_request"]["id"]
    assert status(world, "germany", decided) == "superseded"
    before = show(world, "germany", decided)
    vanish(world, BERLIN)
    assert world.request("GET", f"{PATHS['berlin']}/quota-requests/{below}").status_code == 404
    request = show(world, "germany", above)
    assert "passed_on_from" not in request
    last = request["conversation"][-1]
    assert (request["status"], last["kind"], last["text"]) == ("superseded", "superseded", "project berlin was deleted")
    del before["passed_on_from"]
    assert show(world, "germany", decided) == before
    assert (status(world, "germany", kept), show(world, "germany", kept)["passed_on_from"]) == ("open", other)
    steps = [payload(each)["event"] for each in events(world) if each["target"]["id"] == str(above)]
    assert steps == ["opened", "superseded"]
    assert act(world, "germany", above, "approve", "cloud-admin").status_code == 409


def test_what_fits_is_not_passed_on(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 70})
    result = act(world, "berlin", id_, "pass-on", "germany-admin")
    assert (result.status_code, result.text) == (
        409,
        f"quota request {id_} fits into the domain's quota: it can be approved\n",
    )
