"""Requests that rules of the configuration approve at once."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from limes.kernel.units import Unit
from limes.requests.rules import AutoApprovalRule, RequestedQuota, first_match
from tests.api.world import World
from tests.audit.test_audit import events, payload
from tests.requests.quota_requests import PATHS, act, ask, asked, kinds, quota, show, status

CORES = ("compute", "cores")
ANY = re.compile(".*")
WISH = RequestedQuota(CORES, Unit.COUNT, "germany/berlin", present=20, wanted=25, usage=17)


@pytest.mark.parametrize(
    ("conditions", "holds"),
    [
        ({"resource": re.compile("compute/.*")}, True),
        ({"resource": re.compile("compute")}, False),
        ({"scope": re.compile("germany/.*")}, True),
        ({"scope": re.compile("germany")}, False),
        ({"up_to": 25}, True),
        ({"up_to": 24}, False),
        ({"up_to": "0"}, False),
        ({"up_to_percent": 125}, True),
        ({"up_to_percent": 124.9}, False),
        ({"used_above": 84.9}, True),
        ({"used_above": 85}, False),
        ({"every": 10}, True),
        ({"every": 10.5}, False),
    ],
)
def test_conditions(conditions: dict[str, Any], holds: bool) -> None:
    rule = AutoApprovalRule(**{"name": "one", "resource": ANY, "up_to_percent": 1000, **conditions})
    wish = RequestedQuota(CORES, WISH.unit, WISH.scope, WISH.present, WISH.wanted, WISH.usage, {"one": 90, "other": 99})
    assert rule.approves(wish, now=100) == holds


def test_the_first_match_wins() -> None:
    rules = [
        AutoApprovalRule(name=name, resource=ANY, up_to=amount) for name, amount in (("a", 20), ("b", 30), ("c", 40))
    ]
    found = first_match(rules, WISH, 0)
    assert found is not None
    assert found.name == "b"
    assert first_match(rules[:1], WISH, 0) is None


SMALL = AutoApprovalRule(name="small", resource=re.compile("compute/cores"), up_to=40)


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    return make(auto_approval=[SMALL], sinks=("log",))


def test_a_rule_approves_at_once(world: World) -> None:
    result = ask(world, "berlin", compute={"cores": 40})
    assert result.status_code == 201
    request = result.json["quota_request"]
    assert (request["status"], request["resources"][0]["rule"]) == ("approved", "small")
    last = request["conversation"][-1]
    assert (last["text"], last["author"]) == (
        "approved compute/cores by rule small",
        {"type": "job", "name": "auto-approval"},
    )
    assert (quota(world, "berlin"), world.pushed) == (40, [(1, ("compute",))])
    (change,) = world.get(f"{PATHS['berlin']}/history")["history"]
    assert (change["detail"], change["initiator"]["name"]) == (f"quota request {request['id']}", "auto-approval")


def test_every_step_has_an_event_for_the_audit(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    first, second, third = events(world)
    assert [(event["action"], event["target"]["typeURI"]) for event in (first, second, third)] == [
        ("create", "service/resources/quota-request"),
        ("update", "service/compute/cores/quota"),
        ("update", "service/resources/quota-request"),
    ]
    assert [payload(event) for event in (first, second, third)] == [
        {"event": "opened", "reason": "launch", "wanted": {"compute/cores": 40}},
        {"oldQuota": 20, "newQuota": 40, "detail": f"quota request {id_}"},
        {"event": "approved", "rules": {"compute/cores": "small"}},
    ]
    assert {event["target"]["id"] for event in (first, third)} == {str(id_)}


def test_a_request_that_no_rule_covers_as_a_whole_stays_open(world: World) -> None:
    assert status(world, "berlin", asked(world, "berlin", compute={"cores": 41})) == "open"
    both = asked(world, "berlin", compute={"cores": 40, "ram": 2048})
    assert (status(world, "berlin", both), quota(world, "berlin")) == ("open", 20)


def test_a_domain_is_for_people(world: World) -> None:
    world.request("PUT", PATHS["germany"], json={})
    assert status(world, "germany", asked(world, "germany", "germany-admin", compute={"cores": 101})) == "open"


def test_what_does_not_fit_stays_open_and_says_so(make: Callable[..., World]) -> None:
    world = make(auto_approval=[AutoApprovalRule(name="large", resource=ANY, up_to=1000)])
    id_ = asked(world, "berlin", compute={"cores": 90})
    last = show(world, "berlin", id_)["conversation"][-1]
    assert last["text"] == "would be approved (compute/cores by rule large), but compute/cores: domain quota exceeded"
    assert (status(world, "berlin", id_), kinds(world, "berlin", id_)) == ("open", ["opened", "comment"])
    assert act(world, "berlin", id_, "pass-on", "germany-admin").status_code == 201


def test_not_too_often(make: Callable[..., World]) -> None:
    world = make(auto_approval=[AutoApprovalRule(name="weekly", resource=ANY, up_to=40, every=100)])
    assert status(world, "berlin", asked(world, "berlin", compute={"cores": 25})) == "approved"
    assert status(world, "berlin", asked(world, "berlin", compute={"cores": 30})) == "open"
    assert status(world, "dresden", asked(world, "dresden", "dresden-admin", compute={"cores": 35})) == "approved"
    world.clock.advance(100)
    assert status(world, "berlin", asked(world, "berlin", compute={"cores": 30})) == "approved"
