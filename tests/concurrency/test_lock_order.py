"""Transactions take their locks in one order (`limes.app.models.LOCK_ORDER`), so that none waits for another in a circle."""

import re
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from limes.app.models import LOCK_ORDER
from limes.catalog.catalog import AutogrowRule, DistributionRule
from limes.db import engine as engines
from limes.db.engine import Engine
from limes.db.failures import Failure
from limes.requests.rules import AutoApprovalRule
from tests.api.world import World, make_world
from tests.concurrency.test_quota import at_once
from tests.quota.quotas import request_quotas
from tests.requests.quota_requests import PATHS, act, ask, asked
from tests.support.databases import ON_POSTGRESQL
from tests.support.locks import LockTrace

AUTOGROW = AutogrowRule(1.5, project_base_quota=5, minor_change=0)
GROWING_CORES = DistributionRule(re.compile("compute/cores"), "autogrow", autogrow=AUTOGROW)
RULE = AutoApprovalRule(name="small", resource=re.compile(".*"), up_to_percent=300)
WAITING = """
    SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def test_the_page_has_the_order() -> None:
    page = (Path(__file__).parents[2] / "docs/architecture.md").read_text()
    (listed,) = re.findall(r"order of their ids: (.*?)\.", page, re.DOTALL)
    assert re.findall(r"`(\w+)`", listed) == [model._meta.table_name for model in LOCK_ORDER]


def test_the_trace_finds_what_is_out_of_order() -> None:
    """Rows that are locked already may be locked again."""
    trace = LockTrace()
    project, domain = 'SELECT 1 FROM "projects" WHERE id = %s FOR UPDATE', 'UPDATE "domain_resources" SET quota = %s'
    for text, values in [(project, [1]), (f"{domain};\n{project}", [5, 1])]:
        trace.follow(text, values)
    assert trace.mistakes == []
    trace.follow(project, [2])
    assert trace.mistakes == [f"projects after domain_resources: {project}"]
    kept = project.replace("UPDATE", "KEY SHARE")  # waits for whoever deletes the project
    trace.follow(kept, [3])
    assert trace.mistakes[1:] == [f"projects after domain_resources: {kept}"]


@pytest.fixture
def collisions(monkeypatch: pytest.MonkeyPatch) -> list[Failure]:
    """How transactions have failed."""
    found: list[Failure] = []
    classify = engines.classify

    def note(error: Exception) -> Failure:
        found.append(classify(error))
        return found[-1]

    monkeypatch.setattr(engines, "classify", note)
    return found


def meet(world: World, monkeypatch: pytest.MonkeyPatch, first: Callable[[], Any], locked: str) -> tuple[int, int]:
    """`first` stops behind its statement that locks (a pattern) until a PUT with If-Match waits for it. Returns both
    statuses."""
    tag = world.request("GET", PATHS["berlin"]).headers["etag"]
    run, owner, reached, is_waiting = Engine._run, threading.local(), threading.Event(), threading.Event()
    statuses = {}

    def stop(engine: Engine, text: str, params: Sequence[Any], take: Callable[[Any], Any]) -> Any:
        result = run(engine, text, params, take)
        if getattr(owner, "is_first", False) and not reached.is_set() and re.search(locked, text):
            reached.set()
            assert is_waiting.wait(60)
        return result

    def go_first() -> None:
        owner.is_first = True
        statuses["first"] = first().status_code

    def put() -> None:
        assert reached.wait(60)
        answer = request_quotas(world, PATHS["berlin"], {"ram": 3000}, headers={"If-Match": tag})
        statuses["put"] = answer.status_code

    def watch() -> None:
        deadline = time.monotonic() + 60
        while world.engine.rows(WAITING) == [(0,)] and time.monotonic() < deadline:
            time.sleep(0.01)
        is_waiting.set()

    monkeypatch.setattr(Engine, "_run", stop)
    at_once(go_first, put, watch)
    return statuses["first"], statuses["put"]


@ON_POSTGRESQL  # on SQLite a writer is alone
def test_an_approval_with_bounds_and_a_put_with_if_match(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, collisions: list[Failure]
) -> None:
    world = make_world(engine, distributions=[GROWING_CORES])
    id_ = asked(world, "berlin", compute={"cores": 30, "ram": 2000})
    met = meet(
        world,
        monkeypatch,
        lambda: act(world, "berlin", id_, "approve", "cloud-admin"),
        r'(?s)"project_resources".* FOR UPDATE',
    )
    assert (met, collisions) == ((200, 412), [])


@ON_POSTGRESQL
def test_a_request_that_rules_approve_and_a_put_with_if_match(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, collisions: list[Failure]
) -> None:
    world = make_world(engine, auto_approval=[RULE])
    met = meet(
        world, monkeypatch, lambda: ask(world, "berlin", compute={"ram": 2000}), r'(?s)"projects".* FOR NO KEY UPDATE'
    )
    assert (met, collisions) == ((201, 412), [])
