"""What `GET /v1/rights` says is what the API does."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.app.routes import RULES
from limes.auth.policy import Policy, Rule
from limes.commitments.rules import CommitmentRules
from limes.quota.rules import LowPrivLimit, LowPrivRules
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, IDENTITIES, World
from tests.commitments.commitments import BEHAVIORS, NOW, PATHS, commit, listed_with_deadlines
from tests.quota.quotas import DOMAIN, PROJECT, request_quotas

BERLINS = f"/v1/rights?domain_id={GERMANY}&project_id={BERLIN}"

REQUESTS = [
    ("cloud", "show_inconsistencies", "GET", "/v1/inconsistencies"),
    ("cloud", "show_errors", "GET", "/v1/admin/scrape-errors"),
    ("cloud", "show_history", "GET", "/v1/changes"),
    ("cloud", "list_domains", "GET", "/v1/domains"),
    ("cloud", "list_projects", "GET", "/v1/projects"),
    ("cloud", "list_commitments", "GET", "/v1/commitments"),
    ("cloud", "list_requests", "GET", "/v1/quota-requests"),
    ("cloud", "show_public_commitments", "GET", "/v1/public-commitments"),
    ("cloud", "discover_domains", "POST", "/v1/domains/discover"),
    ("domain", "show", "GET", DOMAIN),
    ("domain", "show_requests", "GET", f"{DOMAIN}/quota-requests"),
    ("domain", "request_quota", "POST", f"{DOMAIN}/quota-requests"),
    ("domain", "decide_requests", "POST", f"{DOMAIN}/quota-requests/4711/approve"),
    ("domain", "show_history", "GET", f"{DOMAIN}/history"),
    ("domain", "list_projects", "GET", f"{DOMAIN}/projects"),
    ("domain", "discover_projects", "POST", f"{DOMAIN}/projects/discover"),
    ("project", "show", "GET", PROJECT),
    ("project", "show_requests", "GET", f"{PROJECT}/quota-requests"),
    ("project", "request_quota", "POST", f"{PROJECT}/quota-requests/4711/confirm"),
    ("project", "propose_quota", "POST", f"{PROJECT}/quota-requests"),
    ("project", "decide_requests", "POST", f"{PROJECT}/quota-requests/4711/approve"),
    ("project", "show_history", "GET", f"{PROJECT}/history"),
    ("project", "sync", "POST", f"{PROJECT}/sync"),
    ("project", "set_labels", "PUT", f"{PROJECT}/labels"),
    ("project", "set_webhook", "PUT", f"{PROJECT}/webhook"),
    ("project", "buy_commitments", "POST", f"{PROJECT}/commitments/new"),
    ("project", "plan_commitments", "POST", f"{PROJECT}/commitments/plan"),
    ("project", "change_commitments", "POST", f"{PROJECT}/commitments/4711/renew"),
    ("project", "move_commitments", "POST", f"{PROJECT}/commitments/4711/start-transfer"),
    ("project", "move_commitments", "POST", f"{PROJECT}/transfer-commitment/4711"),
    ("project", "delete_commitments", "DELETE", f"{PROJECT}/commitments/4711"),
]


@pytest.mark.parametrize(("level", "right", "method", "path"), REQUESTS, ids=[f"{row[1]}" for row in REQUESTS])
def test_a_right_is_what_a_request_would_be_let_in_for(
    world: World, level: str, right: str, method: str, path: str
) -> None:
    for token in IDENTITIES:
        said = world.get(BERLINS, token)["rights"][level][right]
        assert (token, said) == (token, world.request(method, path, token, json={}).status_code != 403)


@pytest.mark.parametrize("level", ["domain", "project"])
@pytest.mark.parametrize(("verb", "change"), [("raise", 1), ("lower", -1)])
def test_quota_rights_are_what_a_simulation_says(world: World, level: str, verb: str, change: int) -> None:
    path = DOMAIN if level == "domain" else PROJECT
    quota = (100 if level == "domain" else 20) + change
    for token in IDENTITIES:
        said = world.get(BERLINS, token)["rights"][level][f"{verb}_quota"]
        answer = request_quotas(world, f"{path}/simulate-put", {"cores": quota}, token, method="POST")
        assert (token, said) == (token, answer.status_code == 200)


def rights(world: World, token: str, query: str = "") -> Any:
    return world.get(f"/v1/rights{query}", token)["rights"]


def test_without_ids_it_is_every_domain_and_project(world: World) -> None:
    everywhere = rights(world, "germany-admin")
    assert (everywhere["domain"]["show"], everywhere["project"]["set_quota"]) == (False, False)
    at_home = rights(world, "germany-admin", f"?domain_id={GERMANY}")
    assert (at_home["domain"]["show"], at_home["project"]["set_quota"]) == (True, True)
    assert rights(world, "cloud-admin")["project"]["set_quota"]
    assert not rights(world, "berlin-admin", f"?domain_id={GERMANY}")["project"]["show"]


@pytest.mark.parametrize(("domain", "project"), [(FRANCE, BERLIN), (GERMANY, DRESDEN), ("nowhere", "nothing")])
def test_elsewhere_there_are_none(world: World, domain: str, project: str) -> None:
    found = rights(world, "berlin-admin", f"?domain_id={domain}&project_id={project}")
    assert not any([*found["domain"].values(), *found["project"].values()])


def test_members_look_and_propose(world: World) -> None:
    found = rights(world, "berlin-member", f"?domain_id={GERMANY}&project_id={BERLIN}")["project"]
    looks = {"show", "show_history", "show_alerts", "show_requests"}
    assert {name for name, value in found.items() if value} == {*looks, "propose_quota"}


def test_a_project_without_its_domain(world: World) -> None:
    answer = world.request("GET", "/v1/rights", "cloud-admin", query_string=f"project_id={BERLIN}")
    assert (answer.status_code, answer.text) == (400, "query parameter project_id: goes with domain_id only\n")


@pytest.mark.parametrize("limits", [{}, {("compute", "cores"): LowPrivLimit(amount=150)}])
def test_low_privilege_counts_where_there_is_a_limit(make: Callable[..., World], limits: Any) -> None:
    world = make(lowpriv=LowPrivRules(domains=limits))
    found = rights(world, "germany-admin", f"?domain_id={GERMANY}")["domain"]
    assert (found["raise_quota"], found["raise_lowpriv_quota"], found["set_quota"]) == (False, bool(limits), True)


def test_rules_about_single_resources(make: Callable[..., World]) -> None:
    about_ram = Rule("project:raise", "role:member and 'ram':%(resource_name)s", "")
    policy = Policy([about_ram if rule.name == about_ram.name else rule for rule in RULES])
    assert policy.mentions("resource_name")
    assert not policy.mentions("service_type")
    found = rights(make(policy=policy), "berlin-member", f"?domain_id={GERMANY}&project_id={BERLIN}")["project"]
    assert (found["raise_quota"], found["set_quota"], found["lower_quota"]) == (True, True, False)


def test_bursting(make: Callable[..., World]) -> None:
    world = make(burst_multiplier=0.2)
    body = {"project": {"bursting": {"enabled": True}}}
    for token in IDENTITIES:
        said = world.get(BERLINS, token)["rights"]["project"]["set_bursting"]
        assert (token, said) == (token, world.request("PUT", PROJECT, token, json=body).status_code == 202)


def test_taking_back_needs_a_time_of_grace(make: Callable[..., World]) -> None:
    world = make(behaviors=BEHAVIORS, commitment_rules=CommitmentRules(self_delete_grace=60))
    said = {token: world.get(BERLINS, token)["rights"]["project"]["take_back_commitments"] for token in IDENTITIES}
    for token, may in said.items():
        made = commit(world)
        assert [each["deletable_until"] for each in listed_with_deadlines(world)] == [NOW + 60]
        answer = world.request("DELETE", f"{PATHS['berlin']}/commitments/{made['id']}", token)
        assert (token, answer.status_code) == (token, 204 if may else 403)
        if not may:
            assert world.request("DELETE", f"{PATHS['berlin']}/commitments/{made['id']}").status_code == 204
    commit(world)
    world.clock.advance(60)
    assert "deletable_until" not in listed_with_deadlines(world)[0]


def test_when_a_commitment_may_be_renewed(make: Callable[..., World]) -> None:
    world = make(behaviors=BEHAVIORS, commitment_rules=CommitmentRules(renewal_window=1800))
    made = commit(world, confirm_by=NOW + 7200)
    path = f"{PATHS['berlin']}/commitments"
    assert "renewable_from" not in listed_with_deadlines(world)[0], "it is not confirmed yet"
    confirmed = commit(world)
    (opens,) = [each["renewable_from"] for each in listed_with_deadlines(world) if each["id"] == confirmed["id"]]
    assert opens == confirmed["expires_at"] - 1800
    assert world.request("POST", f"{path}/{confirmed['id']}/renew").status_code == 409
    world.clock.advance(opens - NOW)
    assert world.request("POST", f"{path}/{confirmed['id']}/renew").status_code == 202
    assert {each["id"]: "renewable_from" in each for each in listed_with_deadlines(world)} == {
        made["id"]: False,
        confirmed["id"]: False,
        made["id"] + 2: False,
    }
