"""Requests expire while people decide on them: one of the two wins, and everything that tells of it agrees."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from limes.db.engine import Engine
from tests.api.world import World, make_world
from tests.audit.test_audit import payload
from tests.concurrency.test_quota import CLIENTS, at_once
from tests.notifications.test_notifications import told
from tests.quota.temporary import DAY, set_quota
from tests.requests.quota_requests import PATHS, act, asked, kinds, quota, services, show, status

ROUNDS = 12
EXPIRY = 90
"""Days after which a request expires that nobody has decided on."""


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, sinks=("log",), notify_sinks=("log",))


def wait_days(world: World, days: float) -> None:
    world.clock.advance(days * DAY)


def race(world: World, *decisions: Callable[[], Any]) -> list[int]:
    """Answers to decisions that start together with two runs of the job."""
    statuses: list[int] = []
    tries = [lambda decide=decide: statuses.append(decide().status_code) for decide in decisions]
    at_once(world.expire, *tries, world.expire)
    return sorted(statuses)


def decided(world: World, id_: int) -> list[str]:
    """The final states that people were told of."""
    return [
        each["request"]["status"]
        for each in told(world)
        if each["kind"] == "request_decided" and each["request"]["id"] == id_
    ]


def audited(world: World, id_: int) -> list[str]:
    """What the audit was told of the request."""
    rows = world.engine.rows("SELECT document FROM audit_outbox WHERE sink = 'log' ORDER BY number")
    events = [json.loads(document) for (document,) in rows]
    return [
        payload(event)["event"]
        for event in events
        if (event["target"]["typeURI"], event["target"]["id"]) == ("service/resources/quota-request", str(id_))
    ]


def raises(world: World, where: str, id_: int) -> int:
    """How often the history says that this request has changed a quota."""
    rows = world.get(f"{PATHS[where]}/history?limit=1000")["history"]
    return sum(row.get("detail", "").startswith(f"quota request {id_}") for row in rows)


def test_an_approval_while_it_expires(world: World) -> None:
    for round_ in range(ROUNDS):
        id_, before = asked(world, "berlin", compute={"cores": 30 + round_}), quota(world, "berlin")
        wait_days(world, EXPIRY)
        statuses = race(
            world,
            lambda id_=id_: act(world, "berlin", id_, "approve", "germany-admin"),
            lambda id_=id_: act(world, "berlin", id_, "approve", "cloud-admin"),
        )
        state = status(world, "berlin", id_)
        is_approved = state == "approved"
        assert state in {"approved", "expired"}
        assert statuses == ([200, 409] if is_approved else [409, 409])
        assert kinds(world, "berlin", id_) == audited(world, id_) == ["opened", state]
        assert decided(world, id_) == [state]
        assert raises(world, "berlin", id_) == is_approved
        assert quota(world, "berlin") == (30 + round_ if is_approved else before)


@pytest.mark.parametrize(
    ("verb", "document", "final"), [("withdraw", {}, "withdrawn"), ("reject", {"reason": "no"}, "rejected")]
)
def test_it_is_closed_while_it_expires(world: World, verb: str, document: dict[str, str], final: str) -> None:
    """Of their own withdrawal nobody is told."""
    token = "berlin-admin" if verb == "withdraw" else "cloud-admin"
    for _ in range(ROUNDS):
        id_ = asked(world, "berlin", compute={"cores": 30})
        wait_days(world, EXPIRY)
        statuses = race(world, lambda id_=id_: act(world, "berlin", id_, verb, token, **document))
        state = status(world, "berlin", id_)
        assert statuses == ([200] if state == final else [409])
        assert state in {final, "expired"}
        assert kinds(world, "berlin", id_) == audited(world, id_) == ["opened", state]
        assert decided(world, id_) == ([] if state == "withdrawn" else [state])
    assert quota(world, "berlin") == 20


def test_the_time_passes_while_it_is_approved(world: World) -> None:
    """Whoever decides later than that gets 409, even if the job has not seen it yet."""
    for round_ in range(ROUNDS):
        until = int(world.clock.now().timestamp()) + DAY
        wanted = {"services": services(compute={"cores": 50}), "reason": "sale", "until": until}
        answer = world.request(
            "POST", f"{PATHS['berlin']}/quota-requests", "berlin-admin", json={"quota_request": wanted}
        )
        id_ = answer.json["quota_request"]["id"]
        wait_days(world, 1 if round_ % 3 == 0 else 0.999)
        statuses: list[int] = []

        def approve(into: list[int] = statuses, id_: int = id_) -> None:
            into.append(act(world, "berlin", id_, "approve", "germany-admin").status_code)

        at_once(approve, lambda: wait_days(world, 0.01), world.expire)
        wait_days(world, 1)
        world.expire()
        state = status(world, "berlin", id_)
        # 422: it had time left when it was locked, but not any more when its quota was to be set
        assert (statuses[0], state) in {(200, "approved"), (409, "expired"), (422, "expired")}
        assert round_ % 3 or state == "expired"
        assert kinds(world, "berlin", id_) == audited(world, id_) == ["opened", state]
        assert decided(world, id_) == [state]
        assert raises(world, "berlin", id_) == (state == "approved")
        world.settle_temporary()
        assert quota(world, "berlin") == 20


def test_both_levels_while_they_expire(world: World) -> None:
    """Either both are approved, or none, and nothing stays open above what is closed."""
    for _ in range(ROUNDS):
        below = asked(world, "berlin", compute={"cores": 90})
        above = act(world, "berlin", below, "pass-on", "germany-admin").json["quota_request"]["id"]
        wait_days(world, EXPIRY)
        race(world, lambda above=above: act(world, "germany", above, "approve", "cloud-admin"))
        states = (status(world, "berlin", below), status(world, "germany", above))
        # the request above may expire first; the one below does so by itself, then
        assert states in {("approved", "approved"), ("expired", "superseded"), ("expired", "expired")}
        assert (quota(world, "berlin"), quota(world, "germany")) == (
            (90, 120) if states[0] == "approved" else (20, 100)
        ), show(world, "berlin", below)
        assert decided(world, below) == [states[0]]
        set_quota(world, "berlin", 20)
        set_quota(world, "germany", 100)


def test_many_collectors_close_it_once(world: World) -> None:
    ids = [
        asked(world, "berlin", compute={"cores": 30}),
        asked(world, "dresden", "dresden-admin", compute={"cores": 40}),
    ]
    wait_days(world, EXPIRY)
    at_once(*[world.expire] * CLIENTS)
    for where, id_ in zip(("berlin", "dresden"), ids, strict=True):
        assert kinds(world, where, id_) == ["opened", "expired"]
        assert decided(world, id_) == ["expired"]
