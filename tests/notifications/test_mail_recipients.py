"""Who gets which mails, and in which language."""

from typing import Any

import pytest

from limes.kernel.errors import Unavailable
from limes.notifications.mail.templates import sample
from limes.notifications.recipients import Recipients, Subscriptions
from limes.notifications.rules import RecipientRule
from limes.notifications.send_mails import MailRound
from limes.notifications.settings import MailSettings
from tests.notifications.post import ALICE, BOB, DAY, Post, post, server

__all__ = ["post", "server"]


class FakeUsers:
    """Stands for Keystone."""

    def __init__(self) -> None:
        self.is_there = True

    def with_roles(self, scope: str, uuid: str, roles: Any) -> list[str]:
        if not self.is_there:
            raise Unavailable("Keystone does not answer")
        return [f"{role}@{scope}.example.com" for role in roles]

    def address_of(self, user_id: str) -> str | None:
        return f"{user_id}@example.com" if user_id != "nobody" else None


def users(*rules: RecipientRule, keystone: FakeUsers | None = None) -> Recipients:
    return Recipients(MailSettings(recipients=rules), keystone or FakeUsers())


def test_rules_say_who_gets_what(post: Post) -> None:
    post.recipients = users(
        RecipientRule(addresses=["ops@example.com"], levels=["cloud"]),
        RecipientRule(addresses=["germany@example.com"], domain="germ.*"),
        RecipientRule(addresses=["france@example.com"], domain="france"),
        RecipientRule(addresses=["berlin@example.com"], project="berlin", kinds=["quota_used"]),
        RecipientRule(addresses=["Germany@example.com"], language="de"),
        RecipientRule(roles_on_project=["admin"], roles_on_domain=["owner"], kinds=["commitment_expires"]),
    )
    post.notify("quota_used")
    post.notify("commitment_expires")
    post.notify("backend_unreachable")
    post.notify("request_opened")
    assert post.send() == MailRound(sent=6 + 1)
    got = {(recipient, str(message["Limes-Kind"])) for recipient, message in post.server.received}
    assert got == {
        ("ops@example.com", "backend_unreachable"),
        ("Germany@example.com", "backend_unreachable"),
        ("germany@example.com", "quota_used"),
        ("germany@example.com", "commitment_expires"),
        ("berlin@example.com", "quota_used"),
        ("admin@project.example.com", "commitment_expires"),
        ("owner@domain.example.com", "commitment_expires"),
    }


@pytest.mark.sql
def test_addresses_that_differ_in_case_are_one_recipient(post: Post) -> None:
    """Rules, Keystone, links to unsubscribe and the settings of users may all write them in their own way."""
    first, second = (
        RecipientRule(addresses=["Ops@Example.com"]),
        RecipientRule(addresses=["ops@example.COM", "OPS@example.com"]),
    )
    for rules in ([first, second], [second]):
        post.recipients = users(*rules)
        post.notify("quota_used")
    assert post.send() == MailRound(sent=1)
    assert post.subjects == [("Ops@Example.com", "2 quotas are nearly used up")]
    post.notify("quota_used")
    assert post.send() == MailRound(), "there was one today, in the first spelling"
    assert post.send(DAY) == MailRound(sent=1)
    assert post.subjects[1][0] == "ops@example.COM"
    Subscriptions(post.world.engine, post.world.clock).end("oPs@example.com", "quota_used")
    post.notify("quota_used")
    post.notify("commitment_expires")
    assert post.send(DAY) == MailRound(sent=1)
    assert str(post.server.received[2][1]["Limes-Kind"]) == "commitment_expires"


def test_who_asked_and_decides_gets_one_mail(post: Post) -> None:
    """Keystone writes the address in another way than the configuration."""
    decided = ["request_decided"]
    post.recipients = users(RecipientRule(addresses=["Carol@EXAMPLE.com", ALICE], kinds=decided))
    post.notify("request_decided", request={**sample("request_decided")["request"], "requester": {"id": "carol"}})
    assert post.send() == MailRound(sent=2)
    assert sorted(recipient for recipient, _ in post.subjects) == [ALICE, "carol@example.com"]


def test_the_language_of_rules_and_domains(post: Post) -> None:
    rules = (RecipientRule(addresses=[ALICE]), RecipientRule(addresses=[BOB], language="en"))
    languages = ({"domain": "germany", "language": "de"},)
    post.recipients = Recipients(MailSettings(recipients=rules, languages=languages))
    post.notify("quota_used")
    post.send()
    assert sorted(post.subjects) == [
        (ALICE, "berlin: 80 % von compute/ram sind belegt"),
        (BOB, "berlin: 80 % of compute/ram used"),
    ]
    assert {recipient: str(message["Content-Language"]) for recipient, message in post.server.received} == {
        ALICE: "de",
        BOB: "en",
    }


def test_who_asked_is_told_of_the_decision(post: Post) -> None:
    post.recipients = users(RecipientRule(addresses=[ALICE]))
    request = sample("request_decided")["request"]
    for requester in ("carol", "nobody"):
        post.notify("request_decided", request={**request, "requester": {"id": requester, "name": requester}})
    assert post.send() == MailRound(sent=1)
    assert post.subjects == [("carol@example.com", "Your quota request 12 was approved in part")]


def test_while_keystone_is_away_others_are_told(post: Post) -> None:
    keystone = FakeUsers()
    keystone.is_there = False
    rules = (RecipientRule(addresses=["ops@example.com"], levels=["cloud"]), RecipientRule(roles_on_project=["admin"]))
    post.recipients = users(*rules, keystone=keystone)
    post.append("quota_used")
    post.append("backend_unreachable")
    outcome = post.deliver()
    assert (outcome.delivered, outcome.refused, outcome.failed) == (1, 1, False)
    assert post.send() == MailRound(sent=1)
    keystone.is_there = True
    post.world.clock.advance(60)
    assert post.deliver().delivered == 1
    assert post.send() == MailRound(sent=1)
    assert [recipient for recipient, _ in post.subjects] == ["ops@example.com", "admin@project.example.com"]
