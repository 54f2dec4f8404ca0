"""Many people at once at the same requests: one decision wins, and nothing is oversold."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.quota.temporary import ALWAYS
from limes.requests import queries
from limes.requests.queries import AmountRow
from limes.requests.rules import AutoApprovalRule
from tests.api.vanishing import vanish
from tests.api.world import GERMANY, World, make_world
from tests.concurrency.conftest import Rounds
from tests.concurrency.test_quota import at_once
from tests.quota.quotas import request_quotas
from tests.requests.quota_requests import PATHS, act, ask, asked, kinds, quota, services, status
from tests.support.statements import count_statements


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine)


def calls(*works: Callable[[], Any]) -> list[Any]:
    """The answers to requests that start together."""
    answers: list[Any] = []
    at_once(*(lambda work=work: answers.append(work()) for work in works))
    return answers


def statuses(answers: list[Any]) -> list[int]:
    return sorted(answer.status_code for answer in answers)


def test_of_many_decisions_one_wins_and_the_others_see_it(world: World) -> None:
    for round_ in range(5):
        id_ = asked(world, "berlin", compute={"cores": 30 + round_})

        def approve(id_: int = id_) -> Any:
            return act(world, "berlin", id_, "approve", "germany-admin")

        def reject(id_: int = id_) -> Any:
            return act(world, "berlin", id_, "reject", "cloud-admin", reason="no")

        answers = calls(*[approve, reject] * 4)
        assert statuses(answers) == [200] + 7 * [409]
        state = status(world, "berlin", id_)
        assert {answer.text for answer in answers if answer.status_code == 409} == {
            f"quota request {id_} is {state}, not open\n"
        }
        assert kinds(world, "berlin", id_) == ["opened", state]
        assert (quota(world, "berlin") == 30 + round_) == (state == "approved")


def test_approvals_that_fit_only_alone(world: World) -> None:
    """100 cores, 50 given: of requests for 25 more and for 26 more, one is approved, and the other stays open."""
    for _ in range(5):
        one = asked(world, "berlin", compute={"cores": 45})
        two = asked(world, "dresden", "dresden-admin", compute={"cores": 56})
        answers = calls(
            lambda one=one: act(world, "berlin", one, "approve", "germany-admin"),
            lambda two=two: act(world, "dresden", two, "approve", "germany-admin"),
        )
        assert statuses(answers) == [200, 409]
        assert quota(world, "berlin") + quota(world, "dresden") <= 100
        for where, id_, start in (("berlin", one, 20), ("dresden", two, 31)):
            if status(world, where, id_) == "open":
                act(world, where, id_, "withdraw", "cloud-admin")
            request_quotas(world, PATHS[where], {"cores": start})


def test_an_approval_while_the_domain_quota_is_lowered(world: World) -> None:
    for _ in range(5):
        id_ = asked(world, "berlin", compute={"cores": 60})
        calls(
            lambda id_=id_: act(world, "berlin", id_, "approve", "germany-admin"),
            lambda: request_quotas(world, PATHS["germany"], {"cores": 60}),
        )
        assert quota(world, "berlin") + quota(world, "dresden") <= quota(world, "germany")
        assert (status(world, "berlin", id_) == "approved") == (quota(world, "berlin") == 60)
        if status(world, "berlin", id_) == "open":
            act(world, "berlin", id_, "withdraw", "cloud-admin")
        request_quotas(world, PATHS["berlin"], {"cores": 20})
        request_quotas(world, PATHS["germany"], {"cores": 100})


def test_asking_at_once_leaves_one_request_open(world: World) -> None:
    answers = calls(*[lambda: ask(world, "berlin", compute={"cores": 40})] * 8)
    assert statuses(answers) == 8 * [201]
    found = world.get(f"{PATHS['berlin']}/quota-requests?status=open")["quota_requests"]
    assert len(found) == 1


def test_of_many_at_once_as_many_are_made_as_are_allowed(engine: Engine) -> None:
    world = make_world(engine, requests_per_day=5)
    answers = calls(*[lambda: ask(world, "berlin", compute={"cores": 40})] * 8)
    assert statuses(answers) == 5 * [201] + 3 * [409]


def test_of_many_projects_at_once_as_many_are_made_as_the_domain_may(engine: Engine) -> None:
    world = make_world(engine, requests_in_domain=5)
    who = {"berlin": "berlin-admin", "dresden": "dresden-admin"}
    answers = calls(*[lambda place=place: ask(world, place, who[place], compute={"cores": 40}) for place in who] * 4)
    assert statuses(answers) == 5 * [201] + 3 * [409]


def test_a_decision_while_it_is_passed_on(world: World) -> None:
    """Never is a request of the domain left open whose request below is closed."""
    for _ in range(8):
        below = asked(world, "berlin", compute={"cores": 90})
        calls(
            lambda below=below: act(world, "berlin", below, "pass-on", "germany-admin"),
            lambda below=below: act(world, "berlin", below, "pass-on", "germany-admin"),
            lambda below=below: act(world, "berlin", below, "withdraw", "berlin-admin"),
        )
        assert status(world, "berlin", below) == "withdrawn"
        assert world.get(f"{PATHS['germany']}/quota-requests?status=open")["quota_requests"] == []


def test_decisions_on_both_levels_at_once(world: World) -> None:
    for _ in range(5):
        below = asked(world, "berlin", compute={"cores": 90})
        above = act(world, "berlin", below, "pass-on", "germany-admin").json["quota_request"]["id"]
        calls(
            lambda above=above: act(world, "germany", above, "approve", "cloud-admin"),
            lambda below=below: act(world, "berlin", below, "reject", "germany-admin", reason="no"),
        )
        decisions = {status(world, "berlin", below), status(world, "germany", above)}
        assert decisions in ({"approved"}, {"rejected", "superseded"})
        assert quota(world, "berlin") == (90 if decisions == {"approved"} else 20)
        request_quotas(world, PATHS["berlin"], {"cores": 20})
        request_quotas(world, PATHS["germany"], {"cores": 100})


def add_project(world: World, uuid: str) -> str:
    """Makes a project as Berlin is, and returns its path."""
    (id_,) = (row[0] for row in world.engine.rows("SELECT MAX(id) + 1 FROM projects"))
    row = [id_, uuid, uuid, GERMANY, 1, False]
    columns = "id, uuid, name, parent_uuid, domain_id, has_bursting"
    copied = {
        "project_services": "service_id, scraped_at, next_scrape_at, is_stale, scrape_error, push_failures, push_error",
        "project_resources": "resource_id, quota, backend_quota, usage",
    }
    with world.engine.connection():
        world.engine.execute(f"INSERT INTO projects ({columns}) VALUES (%s, %s, %s, %s, %s, %s)", row)
        for table, names in copied.items():
            world.engine.execute(
                f"INSERT INTO {table} (project_id, {names}) SELECT %s, {names} FROM {table} WHERE project_id = 1", [id_]
            )
    return f"/v1/domains/{GERMANY}/projects/{uuid}"


def test_a_project_vanishes_while_its_request_is_passed_on_or_decided(world: World, rounds: Rounds) -> None:
    """What was passed on stays with the domain, and is never open for a project that is gone."""
    document = {"quota_request": {"services": services(compute={"cores": 500}), "reason": "launch"}}
    made = 0
    for round_ in range(rounds(16)):
        url = f"{add_project(world, f'uuid-{round_}')}/quota-requests"

        def post(path: str) -> Any:
            return world.request("POST", path, json=document if path.endswith("requests") else {})

        decision = f"{url}/{post(url).json['quota_request']['id']}/pass-on"
        if is_passed_on := bool(round_ % 2):
            above = post(decision).json["quota_request"]["id"]
            decision = f"{PATHS['germany']}/quota-requests/{above}/approve"
        answers: list[Any] = []
        at_once(
            lambda path=decision, answers=answers: answers.append(post(path).status_code),
            lambda round_=round_: vanish(world, f"uuid-{round_}"),
        )
        assert set(answers) <= ({200, 409} if is_passed_on else {201, 404})
        made += is_passed_on or answers == [201]
        found = world.get(f"{PATHS['germany']}/quota-requests?level=domain")["quota_requests"]
        assert len(found) == made
        assert [each for each in found if each["status"] == "open" or "passed_on_from" in each] == []
        request_quotas(world, PATHS["germany"], {"cores": 100})
    assert made


def test_a_thousand_open_requests(world: World) -> None:
    """A list costs as many queries as a short one, and deciding and asking go on."""
    first = asked(world, "dresden", "dresden-admin", compute={"cores": 40})

    def fill() -> None:
        for number in range(1000):
            id_ = queries.insert(world.engine, (1, 2), "launch", ("u8", ""), 1000.0 + number, ALWAYS)
            queries.add_amounts(world.engine, [AmountRow(id_, "volume", "capacity", "quota", 0, 10, None)])

    world.engine.atomic(fill)

    def read(limit: int) -> int:
        return count_statements(
            world.engine, lambda: world.get(f"{PATHS['germany']}/quota-requests?status=open&limit={limit}")
        )

    assert read(1) == read(1000)
    found = world.get("/v1/quota-requests?limit=1000")["quota_requests"]
    assert len(found) == 1000
    assert act(world, "dresden", first, "approve", "germany-admin").status_code == 200
    assert asked(world, "berlin", compute={"cores": 21})


def test_a_rule_approves_once_in_its_time(engine: Engine) -> None:
    rule = AutoApprovalRule(name="weekly", resource=re.compile(".*"), up_to_percent=200, every=3600)
    world = make_world(engine, auto_approval=[rule])
    answers = calls(*[lambda cores=cores: ask(world, "berlin", compute={"cores": cores}) for cores in range(21, 29)])
    assert set(statuses(answers)) <= {201, 422}  # 422: another one has got as much already
    approved = world.get(f"{PATHS['berlin']}/quota-requests?status=approved")["quota_requests"]
    assert [request["resources"][0]["wanted_quota"] for request in approved] == [quota(world, "berlin")]


def test_of_confirmations_and_other_ends_of_a_proposal_one_wins(world: World) -> None:
    for round_ in range(5):
        id_ = asked(world, "berlin", "berlin-member", compute={"cores": 30 + round_})

        def do(verb: str, token: str, id_: int = id_, **document: str) -> Callable[[], Any]:
            return lambda: act(world, "berlin", id_, verb, token, **document)

        answers = calls(
            *[do("confirm", "berlin-admin")] * 3,
            *[do("withdraw", "berlin-member")] * 2,
            do("reject", "germany-admin", reason="no"),
        )
        happened = kinds(world, "berlin", id_)
        assert (happened[0], len(happened)) in {("proposed", 2), ("proposed", 3)}
        if happened[1] == "confirmed":  # and then rejected, as the admins of the domain may do to open ones, too
            assert happened[2:] in ([], ["rejected"])
        else:
            assert happened[1:] in (["withdrawn"], ["rejected"])
        assert statuses(answers).count(200) == len(happened) - 1
        assert {answer.status_code for answer in answers} <= {200, 409}
        if status(world, "berlin", id_) == "open":
            act(world, "berlin", id_, "withdraw", "berlin-admin")


def test_proposing_and_asking_at_once_leaves_one(world: World) -> None:
    for round_ in range(5):
        answers = calls(
            *[lambda n=round_: ask(world, "berlin", "berlin-member", compute={"cores": 40 + n})] * 3,
            *[lambda n=round_: ask(world, "berlin", compute={"cores": 40 + n})] * 2,
        )
        assert set(statuses(answers)) <= {201, 409}
        found = world.get(f"{PATHS['berlin']}/quota-requests?status=open&status=proposed")["quota_requests"]
        assert [each["status"] for each in found] == ["open"], "no proposal replaces what an admin has asked for"
        act(world, "berlin", found[0]["id"], "withdraw", "berlin-admin")
