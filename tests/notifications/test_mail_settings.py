"""Users see and choose which mails they get: only their own, and as the links in mails do."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from msgspec import structs

from limes.app.routes import RULES
from limes.auth.policy import Policy
from limes.kernel.errors import Unavailable
from limes.notifications import queries
from limes.notifications.mail.templates import KINDS
from limes.notifications.recipients import MailPreferences
from limes.notifications.send_mails import MailRound
from tests.api.world import Addresses, World
from tests.notifications.post import Post, post, recipients, server
from tests.notifications.test_unsubscribe import ask, unsubscribe_path
from tests.support.rows import all_rows, changes
from tests.support.statements import count_statements

__all__ = ["post", "server"]

PATH = "/v1/mail-settings"
MEMBER = "u7@example.com"
"""The address of berlin-member, in lower case."""


def show(world: World, token: str = "berlin-member") -> Any:
    return world.get(PATH, token)["mail_settings"]


def put(world: World, token: str = "berlin-member", **wanted: Any) -> Any:
    return world.request("PUT", PATH, token, json={"mail_settings": wanted})


def kind(name: str, sent: bool = False) -> dict[str, Any]:
    return {"kind": name, "sent": sent}


def unwanted(world: World, token: str = "berlin-member") -> list[str]:
    return [each["kind"] for each in show(world, token)["kinds"] if not each["sent"]]


def stored(world: World) -> list[tuple[str, str]]:
    return [(recipient, name) for recipient, name, _ in queries.all_unsubscribed(world.engine)]


def test_at_first_all_is_sent(world: World) -> None:
    assert show(world) == {
        "address": "U7@example.com",
        "sent": True,
        "kinds": [{"kind": name, "sent": True} for name in KINDS],
    }


def test_some_kinds(world: World) -> None:
    answer = put(world, kinds=[kind("quota_used"), kind("request_opened")])
    assert (answer.status_code, answer.json["mail_settings"]) == (200, show(world))
    assert unwanted(world) == ["quota_used", "request_opened"]
    assert stored(world) == [(MEMBER, "quota_used"), (MEMBER, "request_opened")]
    put(world, kinds=[kind("quota_used", True), kind("commitment_expires")])
    assert unwanted(world) == ["commitment_expires", "request_opened"]
    assert unwanted(world, "berlin-admin") == [], "it is about oneself"


def test_none_at_all(world: World) -> None:
    put(world, sent=False)
    assert (show(world)["sent"], unwanted(world), stored(world)) == (False, [], [(MEMBER, "*")])
    put(world, kinds=[kind("quota_used", True)])
    assert not show(world)["sent"], "what is not named stays"
    assert put(world, sent=True).json["mail_settings"]["sent"]
    assert stored(world) == []


@pytest.mark.sql
def test_the_same_twice_changes_nothing(world: World) -> None:
    put(world, sent=False, kinds=[kind("quota_used")])
    before = all_rows(world.engine)
    world.clock.advance(60)
    for _ in range(2):
        assert put(world, sent=False, kinds=[kind("quota_used")]).status_code == 200
    assert put(world).status_code == 200
    assert changes(before, all_rows(world.engine)) == {}


def test_links_do_the_same(world: World) -> None:
    ask(world, "POST", unsubscribe_path(MEMBER, "quota_used"))
    assert unwanted(world) == ["quota_used"]
    put(world, kinds=[kind("quota_used", True)])
    assert stored(world) == []


@pytest.mark.sql
def test_mails_follow(post: Post) -> None:
    post.recipients = recipients("U7@example.com")
    put(post.world, kinds=[kind("quota_used")])
    post.notify("quota_used")
    post.notify("commitment_expires")
    assert post.send() == MailRound(sent=1)
    (subject,) = [subject for _, subject in post.subjects]
    assert "commitment" in subject


@pytest.mark.parametrize(
    ("wanted", "status", "text"),
    [
        ({"kinds": [kind("quota_usd")]}, 422, "there is no kind of mail 'quota_usd'; there are: "),
        ({"kinds": [kind("*")]}, 422, "there is no kind of mail '*'"),
        ({"kinds": [kind("quota_used"), kind("quota_used", True)]}, 422, "a kind of mail is given twice"),
        ({"kinds": [{"kind": "quota_used"}]}, 400, "mail_settings.kinds.0.sent"),
        ({"sent": "no"}, 400, "mail_settings.sent"),
        ({"sent": False, "address": "boss@example.com"}, 400, "mail_settings.address"),
        ({"sent": False, "user_id": "u1"}, 400, "mail_settings.user_id"),
        ({"kinds": 101 * [kind("quota_used")]}, 400, "mail_settings.kinds"),
    ],
)
def test_what_is_refused(world: World, wanted: dict[str, Any], status: int, text: str) -> None:
    before = all_rows(world.engine)
    answer = put(world, **wanted)
    assert (answer.status_code, text in answer.text) == (status, True), answer.text
    assert changes(before, all_rows(world.engine)) == {}


def test_without_an_address(world: World) -> None:
    found = show(world, "nobody")
    assert (found["address"], found["sent"]) == (None, True)
    answer = put(world, "nobody", sent=False)
    assert (answer.status_code, answer.text) == (409, "no mail address of this user is known, so no mails are sent\n")


def test_kinds_that_are_never_sent_are_not_listed(make: Callable[..., World]) -> None:
    world = make(mail_settings=lambda engine, clock: MailPreferences(engine, clock, ["quota_used"], Addresses()))
    assert [each["kind"] for each in show(world)["kinds"]] == ["quota_used"]
    assert put(world, kinds=[kind("request_opened")]).status_code == 422


def test_where_no_mails_are_sent(make: Callable[..., World]) -> None:
    world = make(mail_settings=lambda engine, clock: None)
    for method in ("GET", "PUT"):
        answer = world.request(method, PATH, "berlin-member", json={"mail_settings": {"sent": False}})
        assert (answer.status_code, answer.text) == (404, "this Limes sends no mails to users\n")


def test_keystone_does_not_answer(make: Callable[..., World]) -> None:
    class Down(Addresses):
        def address_of(self, user_id: str) -> str | None:
            raise Unavailable("cannot ask Keystone for users: no answer")

    world = make(mail_settings=lambda engine, clock: MailPreferences(engine, clock, KINDS, Down()))
    assert world.request("GET", PATH, "berlin-member").status_code == 503
    assert put(world, sent=False).status_code == 503


def test_operators_may_forbid_it(make: Callable[..., World]) -> None:
    rules = [structs.replace(each, check="!") if each.name == "user:mail_settings" else each for each in RULES]
    world = make(policy=Policy(rules))
    assert {world.request(method, PATH, json={}).status_code for method in ("GET", "PUT")} == {403}


@pytest.mark.sql
def test_many_at_once(world: World) -> None:
    def change(number: int) -> int:
        wanted = [kind(name, (number + place) % 3 == 0) for place, name in enumerate(KINDS)]
        return int(put(world, kinds=wanted if number % 2 else wanted[::-1]).status_code)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(change, range(8))) == 8 * [200]


def test_all_kinds_cost_as_much_as_one(world: World) -> None:
    def statements(names: tuple[str, ...], sent: bool) -> int:
        return count_statements(world.engine, lambda: put(world, kinds=[kind(name, sent) for name in names]))

    statements(KINDS[:1], True)
    assert statements(KINDS[:1], False) == statements(KINDS, False)
    assert statements(KINDS[:1], True) == statements(KINDS, True)
