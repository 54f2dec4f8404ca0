"""The inbox: what others have done with one's own requests, and what of it was seen."""

from typing import Any

import pytest

from tests.api.world import BERLIN, GERMANY, World
from tests.requests.quota_requests import act, asked
from tests.support.statements import count_statements

PATH = "/v1/inbox"


def inbox(world: World, token: str = "berlin-admin", query: str = "") -> Any:
    return world.get(PATH + query, token)["inbox"]


def kinds(world: World, token: str = "berlin-admin") -> list[str]:
    return [each["kind"] for each in inbox(world, token)["items"]]


def see(world: World, at: int, token: str = "berlin-admin") -> Any:
    return world.request("PUT", PATH, token, json={"seen_at": at}).json["inbox"]


def now(world: World) -> int:
    return int(world.clock.now().timestamp())


@pytest.mark.sql
def test_what_others_decide_and_say(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    act(world, "berlin", id_, "comments", "berlin-admin", comment="please")
    assert inbox(world) == {"seen_at": None, "unread": 0, "items": []}, "one knows what one has done oneself"
    act(world, "berlin", id_, "comments", "germany-admin", comment="why?")
    world.clock.advance(60)
    act(world, "berlin", id_, "reject", "germany-admin", reason="no")
    shown = inbox(world)
    number = shown["items"][0]["number"]
    assert shown["items"][0] == {
        "number": number,
        "at": now(world),
        "kind": "rejected",
        "text": "no",
        "author": {"type": "user", "id": "u3", "name": ""},
        "quota_request": id_,
        "domain": {"id": GERMANY, "name": "germany"},
        "project": {"id": BERLIN, "name": "berlin"},
        "unread": True,
    }
    assert (kinds(world), shown["unread"]) == (["rejected", "comment"], 2)
    assert kinds(world, "germany-admin") == kinds(world, "berlin-member") == [], "it is that of the requester"


def test_all_that_can_happen_to_a_request(world: World) -> None:
    approved = asked(world, "berlin", compute={"cores": 40})
    lower = [{"type": "compute", "resources": [{"name": "cores", "quota": 25}]}]
    act(world, "berlin", approved, "approve", "germany-admin", services=lower)
    act(world, "berlin", asked(world, "berlin", compute={"cores": 30}), "approve", "germany-admin")
    above = act(world, "berlin", asked(world, "berlin", compute={"cores": 400}), "pass-on", "germany-admin")
    act(world, "germany", above.json["quota_request"]["id"], "reject", "cloud-admin", reason="no")
    withdrawn = asked(world, "berlin", volume={"capacity": 900})
    act(world, "berlin", withdrawn, "withdraw", "germany-admin")
    assert kinds(world) == ["withdrawn", "returned", "passed_on", "approved", "partly_approved"]
    (own,) = inbox(world, "germany-admin")["items"]
    assert (own["kind"], "project" in own) == ("rejected", False), "of the domain's own request"


@pytest.mark.sql
def test_what_was_seen(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    act(world, "berlin", id_, "comments", "germany-admin", comment="one")
    first = now(world)
    world.clock.advance(60)
    act(world, "berlin", id_, "comments", "germany-admin", comment="two")
    shown = see(world, first)
    assert (shown["seen_at"], shown["unread"]) == (first, 1)
    assert [each["unread"] for each in shown["items"]] == [True, False]
    assert see(world, first + 3600)["seen_at"] == now(world), "what is yet to come was not seen"
    assert see(world, first)["seen_at"] == now(world), "what was seen stays seen"
    assert inbox(world)["unread"] == 0
    assert inbox(world, "germany-admin")["seen_at"] is None


def test_pages(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    for text in "abcde":
        act(world, "berlin", id_, "comments", "germany-admin", comment=text)
    path, found = f"{PATH}?limit=2", []
    while path:
        page = world.get(path, "berlin-admin")
        assert page["inbox"]["unread"] == 5, "on all pages"
        found += [each["text"] for each in page["inbox"]["items"]]
        path = page["inbox_links"][0]["href"] if page["inbox_links"] else ""
    assert found == list("edcba")


def test_a_long_inbox_costs_no_more_queries(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    few = count_statements(world.engine, lambda: inbox(world))
    for _ in range(5):
        act(world, "berlin", id_, "comments", "germany-admin", comment="hm")
    assert count_statements(world.engine, lambda: inbox(world)) == few <= 5


@pytest.mark.parametrize(
    "body", [{}, {"seen_at": "1"}, {"seen_at": -1}, {"seen_at": 1.5}, {"seen_at": 1, "user_id": "u6"}]
)
def test_what_is_refused(world: World, body: Any) -> None:
    assert world.request("PUT", PATH, "berlin-admin", json=body).status_code == 400
    assert inbox(world)["seen_at"] is None


def test_members_learn_what_became_of_their_proposals(world: World) -> None:
    first, second = (asked(world, "berlin", "berlin-member", compute={"cores": cores}) for cores in (40, 41))
    act(world, "berlin", second, "confirm", "berlin-admin")
    act(world, "berlin", second, "withdraw", "berlin-admin")
    assert kinds(world, "berlin-member") == ["withdrawn", "confirmed"]
    assert {each["quota_request"] for each in inbox(world, "berlin-member")["items"]} == {second}, first
