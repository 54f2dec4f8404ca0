"""The sink `rabbitmq`: persistent messages in a durable queue, each confirmed by the broker.

Each delivery opens a connection of its own. Deliveries are seconds apart, and a connection kept between them would need
heartbeats, and care for restarting brokers and forgetful firewalls.
"""

import contextlib
import logging
import ssl
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import pika
import pika.exceptions as pika_errors
from msgspec import Struct, field
from pika.adapters.blocking_connection import BlockingChannel
from pika.adapters.utils.connection_workflow import AMQPConnectorException

from limes.audit.sinks import Delivery, OutgoingEvent

log = logging.getLogger(__name__)


class _Attempt(Struct):
    """One delivery, in its own thread, as pika waits for a confirmation for as long as the broker is alive."""

    events: Sequence[OutgoingEvent]
    delivered: list[int] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    error: str | None = None
    steps: int = 0
    """Rises with each answer of the broker."""
    is_given_up: bool = False

    def outcome(self, error: str | None) -> Delivery:
        return Delivery(tuple(self.delivered), dict(self.refused), error)


class RabbitMQSink:
    """Publishes to one queue of the default exchange."""

    name = "rabbitmq"

    def __init__(
        self, url: str, queue: str, *, password: str | None = None, cacert: Path | None = None, timeout: float = 10.0
    ) -> None:
        """`password` replaces the URL's. `timeout`, in seconds, is for each answer of the broker."""
        self._url = _with_password(url, password)
        self._queue = queue
        self._cacert = cacert
        self._timeout = timeout
        self._stuck: threading.Thread | None = None

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        if self._stuck is not None and self._stuck.is_alive():
            return Delivery(error=f"{self._broker()}: still waits for a confirmation from before")
        self._stuck = None
        attempt = _Attempt(events)

        def run() -> None:
            attempt.error = self._connected(lambda opened: self._publish_all(self._open_channel(opened), attempt))

        thread = threading.Thread(target=run, name="audit-rabbitmq", daemon=True)
        thread.start()
        while thread.is_alive():
            before = attempt.steps
            thread.join(3 * self._timeout)
            if thread.is_alive() and attempt.steps == before:
                attempt.is_given_up, self._stuck = True, thread
                return attempt.outcome(f"{self._broker()}: no confirmation for {3 * self._timeout:.0f} s")
        return attempt.outcome(attempt.error)

    def try_out(self) -> str | None:
        """Connects and asks for the queue, which need not exist yet."""
        return self._connected(lambda connection: _has_queue(connection, self._queue))

    def _connected(self, work: Callable[[pika.BlockingConnection], object]) -> str | None:
        """Runs `work` with a connection. Returns what went wrong, if anything."""
        try:
            connection = pika.BlockingConnection(self._parameters())
            try:
                work(connection)
            finally:
                with contextlib.suppress(pika_errors.AMQPError, OSError):  # confirmations stay valid
                    connection.close()
        except (pika_errors.AMQPError, AMQPConnectorException, OSError, ValueError) as error:
            return f"{self._broker()}: {_reason(error)}"
        except Exception as error:
            log.exception("%s: delivery of audit events failed", self._broker())
            return f"{self._broker()}: internal error: {type(error).__name__}"
        return None

    def _publish_all(self, channel: BlockingChannel, attempt: _Attempt) -> None:
        blocked: set[str] = set()
        for event in attempt.events:
            attempt.steps += 1
            if attempt.is_given_up:
                return
            if event.stream in blocked:
                continue
            if reason := self._publish(channel, event):
                attempt.refused[event.number] = reason
                blocked.add(event.stream)
            else:
                attempt.delivered.append(event.number)

    def _parameters(self) -> pika.ConnectionParameters:
        parameters = pika.URLParameters(self._url)
        parameters.socket_timeout = self._timeout
        parameters.stack_timeout = 2 * self._timeout
        parameters.blocked_connection_timeout = self._timeout
        parameters.heartbeat = max(2, int(self._timeout))  # a broker that has died is noticed after two of them
        parameters.connection_attempts = 1
        if parameters.ssl_options is not None and self._cacert is not None:
            context = ssl.create_default_context(cafile=str(self._cacert))
            parameters.ssl_options = pika.SSLOptions(context, parameters.host)
        return parameters

    def _broker(self) -> str:
        return f"RabbitMQ at {urlsplit(self._url).netloc.rpartition('@')[2]}"

    def _open_channel(self, connection: pika.BlockingConnection) -> BlockingChannel:
        """Returns a channel whose queue exists: a durable one is declared if there is none of that name."""
        is_there = _has_queue(connection, self._queue)
        channel = connection.channel()
        if not is_there:
            channel.queue_declare(self._queue, durable=True)
        channel.confirm_delivery()
        return channel

    def _publish(self, channel: BlockingChannel, event: OutgoingEvent) -> str | None:
        """Publishes an event under its id. Returns why the broker refuses it, if so."""
        properties = pika.BasicProperties(
            content_type="application/json",
            content_encoding="utf-8",
            delivery_mode=pika.DeliveryMode.Persistent.value,
            message_id=event.id,
        )
        try:
            channel.basic_publish("", self._queue, event.document.encode(), properties, mandatory=True)
        except pika_errors.NackError:
            return "the broker refuses it (negative acknowledgement): is the queue full?"
        except pika_errors.UnroutableError:
            return "the broker has no queue for it"
        return None


def _has_queue(connection: pika.BlockingConnection, queue: str) -> bool:
    try:
        connection.channel().queue_declare(queue, passive=True)
    except pika_errors.ChannelClosedByBroker as error:
        if error.reply_code != 404:
            raise
        return False
    return True


def _with_password(url: str, password: str | None) -> str:
    """Returns the URL with a password, which pika wants for each user. That of RabbitMQ's `guest` is `guest`."""
    parts = urlsplit(url)
    if password is None and (parts.password is not None or parts.username is None):
        return url
    user, host = parts.username or "guest", parts.netloc.rpartition("@")[2]
    word = password if password is not None else "guest" if user == "guest" else ""
    return urlunsplit(parts._replace(netloc=f"{user}:{quote(word, safe='')}@{host}"))


def _reason(error: Exception) -> str:
    """Returns the text of the original error: pika wraps errors, and some have no text."""
    while isinstance(error, pika_errors.AMQPConnectionError) and error.args and isinstance(error.args[0], Exception):
        error = error.args[0]
    inner = getattr(error, "exception", None)
    original = inner if isinstance(inner, Exception) else error
    return str(original) or type(original).__name__
