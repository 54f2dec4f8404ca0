"""Audit events in a real RabbitMQ, also when it is down, restarts, refuses, hangs, or does not confirm."""

import json
import logging
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from limes.audit.rabbitmq import RabbitMQSink
from limes.audit.sinks import OutgoingEvent
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.notifications.deliver import DeliverEvents
from tests.api.world import BERLIN, GERMANY, make_world
from tests.collector.lab import NoJitter
from tests.setup.needs import OPENSSL
from tests.support.machine import require
from tests.support.rabbitmq import RabbitMQ

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def queue() -> str:
    return f"limes-{uuid.uuid4()}"


@pytest.fixture
def sink(rabbitmq: RabbitMQ, queue: str) -> RabbitMQSink:
    return RabbitMQSink(f"amqp://guest@127.0.0.1:{rabbitmq.port}/", queue, password="guest", timeout=30)


@pytest.fixture
def impatient_sink(rabbitmq: RabbitMQ, queue: str) -> RabbitMQSink:
    """For a broker that does not answer; give it some tries with one that does."""
    return RabbitMQSink(f"amqp://guest@127.0.0.1:{rabbitmq.port}/", queue, password="guest", timeout=3)


def deliver_at_last(sink: RabbitMQSink, number: int) -> None:
    deadline = time.monotonic() + 200
    while (delivery := sink.deliver(events(number))).delivered != (number,):
        assert time.monotonic() < deadline, delivery


def events(*numbers: int, stream: str = "berlin") -> list[Any]:
    return [OutgoingEvent(n, stream, f"id-{n}", json.dumps({"n": n})) for n in numbers]


class KillsMidway(list[OutgoingEvent]):
    """Whoever takes these one by one has half of them when the broker is killed."""

    def __init__(self, wanted: list[OutgoingEvent], rabbitmq: RabbitMQ) -> None:
        super().__init__(wanted)
        self._rabbitmq = rabbitmq

    def __iter__(self) -> Iterator[OutgoingEvent]:
        for number, event in enumerate(super().__iter__()):
            if number == len(self) // 2:
                self._rabbitmq.process.signal(signal.SIGKILL)
            yield event


def bodies(rabbitmq: RabbitMQ, queue: str) -> list[Any]:
    return [json.loads(body)["n"] for _, body in rabbitmq.take_all(queue)]


def test_messages(rabbitmq: RabbitMQ, queue: str, sink: RabbitMQSink) -> None:
    assert sink.deliver(events(1, 2)).delivered == (1, 2)
    (first, body), (second, _) = rabbitmq.take_all(queue)
    assert body == b'{"n": 1}'
    assert (first.delivery_mode, first.content_type, first.message_id) == (2, "application/json", "id-1")
    assert second.message_id == "id-2"


def test_a_broker_is_tried_out_without_leaving_anything(rabbitmq: RabbitMQ, queue: str, sink: RabbitMQSink) -> None:
    assert sink.try_out() is None
    url = f"amqp://guest@127.0.0.1:{rabbitmq.port}/"
    assert RabbitMQSink(url, queue).try_out() is None, "the broker's own user has a known password"
    assert "ACCESS_REFUSED" in RabbitMQSink(url, queue, password="not-the-one").try_out()
    assert RabbitMQSink("amqp://limes@127.0.0.1:1/", queue).try_out().endswith("Connection refused")
    assert sink.deliver(events(1)).delivered == (1,), "it had to make the queue, as nobody else has"


@pytest.mark.long
def test_what_was_confirmed_outlives_a_restart(rabbitmq: RabbitMQ, queue: str, sink: RabbitMQSink) -> None:
    assert sink.deliver(events(1)).error is None
    rabbitmq.process.stop()
    down = sink.deliver(events(2))
    assert not down.delivered
    assert down.error == f"RabbitMQ at 127.0.0.1:{rabbitmq.port}: [Errno 111] Connection refused"
    rabbitmq.process.start()
    assert sink.deliver(events(2)).delivered == (2,)
    assert bodies(rabbitmq, queue) == [1, 2]


@pytest.mark.long
def test_a_restart_in_the_middle_loses_nothing(rabbitmq: RabbitMQ, queue: str, sink: RabbitMQSink) -> None:
    """The broker is killed while it takes messages; the rest is delivered afterwards, and each was confirmed once."""
    wanted = events(*range(1000))
    first = sink.deliver(KillsMidway(wanted, rabbitmq))
    rabbitmq.process.stop()
    rabbitmq.process.start()
    assert first.error is not None
    rest = [event for event in wanted if event.number not in set(first.delivered)]
    assert len(rest) == 500
    assert sink.deliver(rest).error is None
    got = bodies(rabbitmq, queue)
    assert sorted(set(got)) == list(range(1000))
    assert len(got) <= 1001, "at most the one whose confirmation got lost has come twice"
    assert got == sorted(got)


def test_a_full_queue_refuses(rabbitmq: RabbitMQ, queue: str, sink: RabbitMQSink) -> None:
    with rabbitmq.channel() as channel:
        channel.queue_declare(queue, durable=True, arguments={"x-max-length": 1, "x-overflow": "reject-publish"})
    mixed = [*events(1, 2, 3), *events(4, stream="paris")]
    delivery = sink.deliver(mixed)
    assert (delivery.delivered, set(delivery.refused), delivery.error) == ((1,), {2, 4}, None)
    assert "is the queue full?" in delivery.refused[2]
    assert bodies(rabbitmq, queue) == [1]
    assert sink.deliver(events(2)).delivered == (2,)


def test_a_queue_of_the_operator_is_taken_as_it_is(rabbitmq: RabbitMQ, queue: str, sink: RabbitMQSink) -> None:
    with rabbitmq.channel() as channel:
        channel.queue_declare(queue, durable=True, arguments={"x-queue-type": "quorum"})
    assert sink.deliver(events(1)).delivered == (1,)
    assert bodies(rabbitmq, queue) == [1]


def test_a_wrong_password_is_in_no_message(rabbitmq: RabbitMQ, queue: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "limes")
    sink = RabbitMQSink(f"amqp://guest@127.0.0.1:{rabbitmq.port}/", queue, password="s3cret", timeout=30)
    error = sink.deliver(events(1)).error
    assert "ACCESS_REFUSED" in error
    assert "s3cret" not in error + caplog.text + repr(sink)


@pytest.mark.long
def test_a_broker_that_hangs(rabbitmq: RabbitMQ, impatient_sink: RabbitMQSink) -> None:
    rabbitmq.pause()
    try:
        delivery = impatient_sink.deliver(events(1))
    finally:
        rabbitmq.resume()
    assert (delivery.delivered, delivery.refused) == ((), {})
    assert "imeout" in delivery.error
    deliver_at_last(impatient_sink, 1)


def in_queue(queue: str, what: str) -> str:
    return f'{{ok, Q}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"{queue}">>)), sys:{what}(amqqueue:get_pid(Q)).'


@pytest.mark.long
def test_a_queue_that_does_not_confirm(rabbitmq: RabbitMQ, queue: str, impatient_sink: RabbitMQSink) -> None:
    """The connection is fine, with heartbeats and all, but the answer never comes."""
    deliver_at_last(impatient_sink, 1)
    rabbitmq.evaluate(in_queue(queue, "suspend"))
    try:
        first = impatient_sink.deliver(events(2))
        second = impatient_sink.deliver(events(2))
    finally:
        rabbitmq.evaluate(in_queue(queue, "resume"))
    assert (first.delivered, first.error.partition(": ")[2]) == ((), "no confirmation for 9 s")
    assert second.error.partition(": ")[2] == "still waits for a confirmation from before"
    impatient_sink._stuck.join(60)
    deliver_at_last(impatient_sink, 2)
    assert set(bodies(rabbitmq, queue)) == {1, 2}


def test_from_a_put_to_the_queue(rabbitmq: RabbitMQ, queue: str, sink: RabbitMQSink, tmp_path: Path) -> None:
    """The whole way, with an outage in between: in order, all of them, and the request does not notice."""
    url = f"sqlite:///{tmp_path}/limes.db"
    engine = Engine(url)
    limes_migrations.upgrade(engine)
    world = make_world(engine, sinks=("rabbitmq",))
    limes = structs.replace(world.limes, jitter=NoJitter())
    deliver = DeliverEvents(limes, sink, limes.settings.audit)

    def delivered() -> Any:
        world.clock.advance(60)
        return deliver.run_if_due().delivered

    def put(cores: int) -> Any:
        quotas = {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": cores}]}]}
        path = f"/v1/domains/{GERMANY}/projects/{BERLIN}"
        return world.request("PUT", path, json={"project": quotas}).status_code

    assert [put(21), put(22)] == [202, 202]
    assert delivered() == 2
    rabbitmq.process.stop()
    assert [put(23), put(24)] == [202, 202]
    assert delivered() == 0
    rabbitmq.process.start()
    assert delivered() == 2
    assert delivered() == 0
    engine.close()
    found = [(properties, json.loads(body)) for properties, body in rabbitmq.take_all(queue)]
    assert all(properties.message_id == event["id"] for properties, event in found)
    contents = [json.loads(event["target"]["attachments"][0]["content"]) for _, event in found]
    assert [content["newQuota"] for content in contents] == [21, 22, 23, 24]


def test_tls(rabbitmq: RabbitMQ, queue: str) -> None:
    require(OPENSSL)
    url = f"amqps://guest@127.0.0.1:{rabbitmq.tls_port}/"
    trusting = RabbitMQSink(url, queue, password="guest", cacert=rabbitmq.certificate, timeout=30)
    assert trusting.deliver(events(1)).delivered == (1,)
    delivery = RabbitMQSink(url, queue, password="guest", timeout=30).deliver(events(2))
    assert not delivery.delivered
    assert "CERTIFICATE_VERIFY_FAILED" in delivery.error
    assert bodies(rabbitmq, queue) == [1]
