"""Who has unsubscribed gets no mail: the link in a mail needs no login."""

from typing import Any

import pytest

from limes.notifications import queries
from limes.notifications.mail.mailer import Subscription
from limes.notifications.send_mails import MailRound
from tests.api.world import UNSUBSCRIBE_LINKS, World
from tests.notifications.post import ALICE, BOB, Post, post, recipients, server
from tests.support.mail_server import text_of

__all__ = ["post", "server"]


def test_mails_have_a_link_that_works_without_login(post: Post) -> None:
    post.notify("quota_used")
    post.send()
    (_, message) = post.server.received[0]
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    url, _, token = str(message["List-Unsubscribe"]).strip("<>").partition("?token=")
    assert url == "https://limes.example.com/v1/notifications/unsubscribe"
    assert UNSUBSCRIBE_LINKS.read(token) == Subscription(ALICE, "quota_used")
    assert f"?token={token}" in text_of(message)


@pytest.mark.sql
def test_who_has_unsubscribed_gets_no_mail(post: Post) -> None:
    post.recipients = recipients("Alice@example.com", BOB)
    engine = post.world.engine
    engine.atomic(lambda: queries.unsubscribe(engine, ALICE, "quota_used", 1))
    engine.atomic(lambda: queries.unsubscribe(engine, BOB, "*", 1))
    post.notify("quota_used")
    post.notify("commitment_expires")
    assert post.send() == MailRound(sent=1)
    assert [recipient for recipient, _ in post.subjects] == ["Alice@example.com"]
    assert engine.rows("SELECT number FROM mail_items WHERE mail_id IS NULL") == []
    assert engine.atomic(lambda: queries.subscribe(engine, BOB, "*"))
    post.notify("quota_used")
    assert post.send() == MailRound(sent=1)


def unsubscribe_path(recipient: str = ALICE, kind: str = "quota_used") -> str:
    return f"/v1/notifications/unsubscribe?token={UNSUBSCRIBE_LINKS.token(Subscription(recipient, kind))}"


def ask(world: World, method: str, path: str, body: str = "") -> Any:
    path, _, query = path.partition("?")
    headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
    return world.request(method, path, None, query_string=query, body=body, headers=headers)


@pytest.mark.sql
def test_a_click_unsubscribes_and_another_one_undoes_it(post: Post) -> None:
    engine, path = post.world.engine, unsubscribe_path()
    page = ask(post.world, "GET", path)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Stop sending mails of the kind quota_used to alice@example.com?" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert queries.all_unsubscribed(engine) == [], "programs that follow links change nothing"
    for body in ("List-Unsubscribe=One-Click", "action=unsubscribe", ""):
        answer = ask(post.world, "POST", path, body)
        assert (answer.status_code, "gets no more mails of the kind quota_used" in answer.text) == (200, True)
    assert [row[:2] for row in queries.all_unsubscribed(engine)] == [(ALICE, "quota_used")]
    post.notify("quota_used")
    assert post.send() == MailRound()
    answer = ask(post.world, "POST", path, "action=subscribe")
    assert (answer.status_code, "gets mails of the kind quota_used again" in answer.text) == (200, True)
    post.notify("quota_used")
    assert post.send() == MailRound(sent=1)


def test_links_that_are_not_ours(world: World) -> None:
    for path in ("/v1/notifications/unsubscribe", unsubscribe_path() + "x", "/v1/notifications/unsubscribe?token=a.b"):
        for method in ("GET", "POST"):
            answer = ask(world, method, path)
            assert (answer.status_code, answer.text.startswith("this link is not valid")) == (400, True)
    assert queries.all_unsubscribed(world.engine) == []


def test_bodies_are_bounded(world: World) -> None:
    assert ask(world, "POST", unsubscribe_path(), "x" * 5000).status_code == 413


def test_an_address_is_no_markup(world: World) -> None:
    page = ask(world, "GET", unsubscribe_path("<script>@example.com"))
    assert "<script>" not in page.text
    assert "&lt;script&gt;@example.com" in page.text
