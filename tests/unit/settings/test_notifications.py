"""The section `notifications`."""

from typing import Any

import pytest
from pydantic import ValidationError

from limes.settings.notifications import NotificationSettings

WEBHOOK = {"url": "https://chat.example.com/hook", "secret": "sixteen-characters"}


@pytest.mark.parametrize(
    ("section", "sinks"),
    [
        ({}, ()),
        ({"sinks": "none"}, ()),
        ({"sinks": "log"}, ("log",)),
        ({"sinks": ["webhook"], "webhook": WEBHOOK}, ("webhook",)),
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
        ({"except_kinds": ["quota_usd"]}, "except_kinds"),
    ],
)
def test_what_cannot_work(section: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        NotificationSettings.model_validate(section)
    assert said in str(raised.value)
    assert "sixteen" not in str(raised.value)
