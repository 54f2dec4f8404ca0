"""The section `notifications`."""

from typing import Any

import pytest
from pydantic import ValidationError

from limes.notifications.settings import NotificationSettings

SMTP = {"host": "mail.example.com", "sender": "limes@example.com"}
LOGIN = {"username": "limes", "password": "sixteen-characters"}
WEBHOOK = {"url": "https://chat.example.com/hook", "secret": "sixteen-characters"}


@pytest.mark.parametrize(
    ("section", "sinks"),
    [
        ({}, ()),
        ({"sinks": "none"}, ()),
        ({"sinks": "log"}, ("log",)),
        ({"sinks": ["webhook"], "webhook": WEBHOOK}, ("webhook",)),
        ({"sinks": ["smtp"], "smtp": SMTP}, ("smtp",)),
        ({"sinks": ["smtp"], "smtp": {**SMTP, **LOGIN}}, ("smtp",)),
        ({"sinks": ["smtp"], "smtp": {**SMTP, **LOGIN, "security": "none", "host": "localhost"}}, ("smtp",)),
        ({"sinks": "mail_api", "mail_api": {"endpoint": "https://mail.example.com/"}}, ("mail_api",)),
    ],
)
def test_sinks(section: dict[str, Any], sinks: tuple[str, ...]) -> None:
    assert NotificationSettings.model_validate(section).sinks == sinks


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"sinks": ["log", "log"]}, "a sink is given twice"),
        ({"sinks": ["webhook"]}, "needs webhook.url"),
        ({"sinks": ["webhook"], "webhook": {**WEBHOOK, "secret": "short"}}, "of at least 16 characters"),
        ({"webhook": {"url": "ftp://example.com"}}, "webhook.url"),
        ({"sinks": ["smtp"]}, "needs smtp.host and smtp.sender"),
        ({"sinks": ["smtp"], "smtp": {**SMTP, "username": "limes"}}, "LIMES_NOTIFICATIONS_SMTP_PASSWORD"),
        ({"sinks": ["smtp"], "smtp": {**SMTP, **LOGIN, "security": "none"}}, "without encryption"),
        ({"smtp": {"sender": "limes@example.com\nBcc: x@example.com"}}, "smtp.sender"),
        ({"smtp": {"sender_name": "Limes\r\nBcc: x@example.com"}}, "smtp.sender_name"),
        ({"smtp": {"host": "mail.example.com/x"}}, "smtp.host"),
        ({"sinks": ["mail_api"]}, "needs mail_api.endpoint"),
        ({"mail": {"recipients": [{"kinds": ["quota_used"]}]}}, "at least one of addresses"),
        ({"mail": {"recipients": [{"addresses": ["nobody"]}]}}, "expected a mail address"),
        ({"mail": {"recipients": [{"addresses": ["a@b.de"], "domain": "("}]}}, "not a valid regular expression"),
        ({"mail": {"language": "../../etc"}}, "expected a language"),
        ({"mail": {"unsubscribe": {"url": "https://limes.example.com"}}}, "needs unsubscribe.secret"),
        ({"except_kinds": ["quota_usd"]}, "except_kinds"),
    ],
)
def test_what_cannot_work(section: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        NotificationSettings.model_validate(section)
    assert said in str(raised.value)
    assert "sixteen" not in str(raised.value)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ValidationError) as raised:
        NotificationSettings.model_validate({"sinks": ["webhook", "smtp", "mail_api"]})
    for said in ("webhook.url", "webhook.secret", "smtp.host", "mail_api.endpoint"):
        assert said in str(raised.value)


def test_secrets_are_not_shown() -> None:
    section = {"smtp": {**SMTP, **LOGIN}, "mail": {"unsubscribe": {"url": "https://x.example.com", "secret": "s" * 16}}}
    shown = repr(NotificationSettings.model_validate(section))
    assert "sixteen" not in shown
    assert "s" * 16 not in shown
