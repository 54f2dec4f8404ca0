"""What a webhook gets if there is very much about one domain, or something that nobody needs to know any more."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import structs

from limes.audit import outbox
from limes.audit.sinks import WebhookSink
from limes.kernel.outgoing import GuardedSession
from limes.kernel.system import SystemIds
from limes.notifications.deliver import DeliverEvents, DeliveryResult
from limes.notifications.mail.templates import sample
from limes.notifications.outbox import BoundPosts
from limes.requests.lists import closed_without_decision
from tests.api.world import World
from tests.notifications.test_notifications import SECRET, NoJitter, Receiver, receiver
from tests.requests.quota_requests import act, asked

__all__ = ["receiver"]


class Post:
    """Notifications, the collectors that deliver them, and what arrives."""

    def __init__(self, world: World, receiver: Receiver) -> None:
        self.world = world
        self.receiver = receiver
        self.told: list[str] = []
        self._read = 0

    def collector(self) -> DeliverEvents:
        """A new one, which remembers nothing."""
        clock = self.world.clock
        sink = WebhookSink(self.receiver.url, SECRET, GuardedSession(), clock, timeout=30, name="notify:webhook")
        limes = structs.replace(self.world.limes, clock=clock, jitter=NoJitter())
        bound = BoundPosts(limes, sink, closed_without_decision)
        return DeliverEvents(limes, bound, limes.settings.notifications, what="notification", job=bound.name)

    def deliver(self, seconds: float = 0) -> DeliveryResult:
        """Lets that time pass, in which nothing is delivered, and delivers."""
        self.world.clock.advance(seconds)
        outcome = self.collector().run_if_due()
        assert outcome is not None
        return outcome

    def tell(self, number: int, domain: str = "germany", projects: int = 3, **changed: Any) -> list[str]:
        """Notifications about projects of a domain, or about a service. Returns the ids."""
        now, rows = self.world.clock.now().timestamp(), []
        for _ in range(number):
            document = sample("quota_used") | {"id": SystemIds().uuid(), "at": int(now), **changed}
            document |= {"order": len(self.told), "domain": {"id": domain, "name": domain}}
            if not domain:
                del document["domain"]
            stream = f"{domain}-{len(self.told) % projects}"
            rows.append((now, "notify:webhook", stream, document["id"], json.dumps(document | {"stream": stream})))
            self.told.append(document["id"])
        self.world.engine.atomic(lambda: outbox.append(self.world.engine, rows))
        return [row[3] for row in rows]

    def new(self) -> list[dict[str, Any]]:
        """What has arrived since the last call."""
        bodies = [json.loads(body) for _, body in self.receiver.got[self._read :]]
        self._read = len(self.receiver.got)
        return bodies

    def pending(self) -> int:
        """How many wait."""
        return int(self.world.engine.rows("SELECT COUNT(*) FROM audit_outbox WHERE delivered_at IS NULL")[0][0])


def flat(bodies: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for body in bodies for each in body.get("notifications", [body])]


def ids(bodies: Sequence[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in flat(bodies)]


@pytest.fixture
def post(make: Callable[..., World], receiver: Receiver) -> Post:
    return Post(make(notify_sinks=("webhook",)), receiver)


def test_below_the_bound_each_is_sent_singly(post: Post) -> None:
    told = post.tell(30)
    assert post.deliver().delivered == 30
    assert [body["id"] for body in post.new()] == told


def test_beyond_the_bound_one_post_has_all_that_wait(post: Post) -> None:
    others = post.tell(2, "france")
    told = post.tell(70)
    assert post.deliver().delivered == 72
    *single, several = post.new()
    assert [body["id"] for body in single] == others
    assert {name: several[name] for name in several if name not in ("id", "notifications")} == {
        "kind": "several",
        "at": int(post.world.clock.now().timestamp()),
        "domain": {"id": "germany", "name": "germany"},
        "count": 70,
    }
    assert (ids([several]), post.receiver.got[-1][0]["Limes-Message-Id"]) == (told, several["id"])

    # the next one waits for 10 seconds, but not what is about other domains
    told, others = post.tell(5), post.tell(2, "france")
    post.deliver(seconds=5)
    assert ids(post.new()) == others
    told += post.tell(1, projects=50)
    post.deliver(seconds=5)
    (several,) = post.new()
    assert ids([several]) == told

    told = post.tell(3)
    post.deliver(seconds=61)
    assert [body["id"] for body in post.new()] == told


def test_what_is_about_no_domain(post: Post) -> None:
    told = post.tell(31, "", projects=1)
    post.deliver()
    (several,) = post.new()
    assert ids([several]) == told
    assert "domain" not in several


@pytest.mark.parametrize("seed", range(3))
def test_in_no_minute_is_a_domain_told_of_more_often(post: Post, seed: int) -> None:
    """Whatever comes when, each collector knows nothing of the others: 30 singly, and 6 with several. All arrive once,
    those of a project in order."""
    dice = random.Random(seed)
    posts: list[tuple[float, str]] = []
    arrived = []
    while len(post.told) < 600 or post.pending():
        if len(post.told) < 600:
            post.tell(dice.choice([0, 1, 2, 40]), projects=dice.choice([1, 20]))
            post.tell(dice.choice([0, 1]), "france")
        post.deliver(seconds=5)
        new, now = post.new(), post.world.clock.now().timestamp()
        arrived += flat(new)
        posts += [(now, flat([body])[0]["domain"]["id"]) for body in new]
    assert Counter(each["id"] for each in arrived) == Counter(post.told)
    for stream in {each["stream"] for each in arrived}:
        order = [each["order"] for each in arrived if each["stream"] == stream]
        assert order == sorted(order)
    for start, _ in posts:
        assert sum(start <= at < start + 60 for at, domain in posts if domain == "germany") <= 36
    assert len(posts) < 500
    assert sum(domain == "france" for _, domain in posts) == sum(each["domain"]["id"] == "france" for each in arrived)


@pytest.mark.parametrize("number", [5, 40])
def test_a_collector_that_dies_before_it_notes_what_it_has_sent(
    post: Post, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The next one repeats it, with the same id and contents; what came meanwhile adds to it, with ids of its own."""
    told = post.tell(number)
    for more in (0, 0, 40):
        told += post.tell(more)
        with monkeypatch.context() as patch:
            patch.setattr(outbox, "mark_delivered", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                post.collector().run_if_due()
        post.world.clock.advance(400)  # the lease
    first, again = (post.receiver.got[n : n + (number if number == 5 else 1)] for n in (0, 5 if number == 5 else 1))
    assert [body for _, body in first] == [body for _, body in again]
    assert [head["Limes-Message-Id"] for head, _ in first] == [head["Limes-Message-Id"] for head, _ in again]
    post.deliver()
    assert {*ids(post.new())} == {*told}
    assert post.pending() == 0


def test_a_receiver_that_takes_no_several(post: Post, receiver: Receiver) -> None:
    """It gets them singly then, one every 10 seconds; and as soon as few wait, at once."""
    told = post.tell(33, projects=11)
    receiver.status = 422
    assert post.deliver().refused == 33
    assert len(post.new()) == 1
    receiver.status, bodies = 204, []
    while post.pending():
        post.deliver(seconds=10)
        bodies.append(post.new())
    assert [len(each) for each in bodies] == [*[1] * 8, 25]
    arrived = [body["id"] for each in bodies for body in each]
    assert (len(arrived), {*arrived}) == (33, {*told})


def test_no_post_is_larger_than_receivers_take(post: Post) -> None:
    told = post.tell(60, remedy="x" * 20_000)
    post.deliver()
    sizes = [len(body) for _, body in post.receiver.got]
    while post.pending():
        post.deliver(seconds=10)
        sizes.append(len(post.receiver.got[-1][1]))
    assert (ids(post.new()), len(sizes)) == (told, 3)
    assert max(sizes) < 510_000


def test_a_clock_that_was_ahead(post: Post) -> None:
    post.tell(30)
    post.deliver()
    post.world.run("UPDATE audit_outbox SET delivered_at = delivered_at + 3600")
    post.new()
    told = post.tell(20)
    post.deliver(seconds=5)
    assert [body["id"] for body in post.new()] == told


def test_a_request_that_was_withdrawn_or_replaced_before_it_was_sent(post: Post) -> None:
    withdrawn = asked(post.world, "berlin", compute={"cores": 40})
    act(post.world, "berlin", withdrawn, "withdraw", "berlin-admin")
    for cores in (40, 41, 42):
        last = asked(post.world, "berlin", compute={"cores": cores})
    below = asked(post.world, "dresden", "dresden-admin", compute={"cores": 99})
    act(post.world, "dresden", below, "pass-on", "germany-admin")
    act(post.world, "dresden", below, "reject", "germany-admin", reason="no")
    post.deliver()
    assert [(each["kind"], each["request"]["id"]) for each in post.new()] == [
        ("request_opened", last),
        ("request_opened", below),
        ("request_passed_on", below),
        ("request_decided", below),
    ], "not those that were withdrawn or replaced, nor what was passed on for nothing"
    assert post.pending() == 0
