"""Many people at once set and remove the webhook of a project: the history tells it as it was."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.kernel.errors import NotFound
from limes.notifications.project_webhooks import remove_webhook, set_webhook, show_webhook
from limes.notifications.targets import ProjectWebhookSettings
from limes.projects.scope import Place
from tests.api.world import BERLIN, GERMANY, make_world
from tests.concurrency.test_quota import at_once

PLACE = Place(GERMANY, BERLIN)


@pytest.mark.sql
def test_each_change_begins_where_the_last_one_ended(engine: Engine) -> None:
    limes = make_world(engine, webhooks=ProjectWebhookSettings(allowed_hosts=("chat.example.com",))).limes

    def set_(writer: int) -> Callable[[], Any]:
        url = f"https://chat.example.com/{writer}"
        return lambda: set_webhook(limes, PLACE, url, lambda host, port: ["93.184.216.34"])

    def remove() -> None:
        with suppress(NotFound):  # another one was faster
            remove_webhook(limes, PLACE)

    for _ in range(5):
        at_once(*(set_(writer) for writer in range(3)), remove, remove)
    steps = engine.snapshot(
        lambda: engine.rows("SELECT old, new FROM quota_history WHERE what = 'webhook' ORDER BY number")
    )
    state = 0
    for old, new in steps:
        assert old == state
        state = new
    shown = show_webhook(limes, PLACE)
    assert (shown is not None) == bool(state)
