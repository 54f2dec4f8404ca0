"""Sends notifications to the webhooks of projects: the sink.

Each project has a thread of its own in each round, for a bounded time. So a receiver that is slow or dead delays nobody
else by more than about twice the `timeout`, and by the pauses between tries hardly ever. No redirect is followed; what
a receiver answers is not read but for its status. `limes.notifications.targets` says where requests may go to.
"""

import threading
import time
from collections.abc import Mapping, Sequence

import orjson
import requests
from msgspec import Struct, field

from limes.app.context import Limes
from limes.audit.sinks import Delivery, OutgoingEvent, sign
from limes.kernel.errors import LimesError, Unprocessable
from limes.kernel.outgoing import AnswerLimits, PinnedSession
from limes.notifications import project_webhooks, rules, targets
from limes.notifications.project_webhooks import Receiver

_LIMITS = AnswerLimits(max_transferred=64 * 1024, max_size=64 * 1024)


class _Round(Struct):
    """How it goes with one receiver. Written by its thread, and read by the one that waits for it."""

    events: Sequence[OutgoingEvent]
    delivered: list[int] = field(default_factory=list)
    has_sent: bool = False
    error: str = ""
    is_over: bool = False
    """Nobody waits any longer: nothing more is to be sent."""

    def refused(self) -> Mapping[int, str]:
        """Returns why the first event that was not delivered waits, if so; all later ones wait with it."""
        return {self.events[len(self.delivered)].number: self.error} if self.error else {}


class ProjectPosts(Struct, frozen=True):
    """See `limes.audit.sinks.Sink`. The streams are projects."""

    limes: Limes
    resolve: targets.Resolve = field(default_factory=targets.Resolver)
    name: str = rules.PREFIX + rules.PROJECTS

    def try_out(self) -> str | None:
        """See `Sink`: there is no single receiver."""
        return None

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        engine, by_project = self.limes.engine, dict[str, list[OutgoingEvent]]()
        for event in events:
            by_project.setdefault(event.stream, []).append(event)
        try:
            known = engine.snapshot(lambda: project_webhooks.receivers(engine, sorted(by_project)))
            # what is for a webhook that was removed is delivered: nobody wants it
            gone = [event.number for project, some in by_project.items() if project not in known for event in some]
            rounds = {receiver: _Round(by_project[project]) for project, receiver in known.items()}
            self._run(rounds)
            engine.atomic(lambda: self._note(rounds))
        except LimesError as error:
            return Delivery(error=str(error))
        delivered = [number for each in rounds.values() for number in each.delivered]
        refused = {number: why for each in rounds.values() for number, why in each.refused().items()}
        return Delivery([*gone, *delivered], refused)

    def _run(self, rounds: Mapping[Receiver, _Round]) -> None:
        timeout = self.limes.settings.notifications.project_webhooks.timeout
        until = time.monotonic() + 2 * timeout + 1
        threads = [threading.Thread(target=self._send, args=each, daemon=True) for each in rounds.items()]
        for thread in threads:
            thread.start()
        for thread, each in zip(threads, rounds.values(), strict=True):
            thread.join(max(0.0, until - time.monotonic()))
            each.is_over = True
            if thread.is_alive():  # a name server, as a rule
                each.error = "no answer in time"

    def _send(self, receiver: Receiver, each: _Round) -> None:
        section = self.limes.settings.notifications.project_webhooks
        until = time.monotonic() + section.timeout
        for event in each.events:
            if each.is_over or (each.delivered and time.monotonic() > until):
                return
            error = self._problem(receiver, event)
            if each.is_over:
                return
            if error and self.limes.now() - orjson.loads(event.document)["at"] <= section.give_up:
                each.error = error
                return
            each.has_sent = not error
            each.delivered.append(event.number)

    def _problem(self, receiver: Receiver, event: OutgoingEvent) -> str:
        """Sends an event. Returns why it did not arrive, in words for the project's admins; empty if it did."""
        try:
            status = self._post(receiver, event)
        except Unprocessable as error:
            return str(error)
        except requests.exceptions.SSLError:
            return "its certificate is not accepted, or it does not speak TLS"
        except requests.exceptions.Timeout:
            return "no answer in time"
        except requests.RequestException:
            return "no connection"
        except LimesError:
            return "its answer is a redirect, or too long, or takes too long"
        except Exception as error:  # a bug, which must not stop the others
            return f"internal error: {type(error).__name__}"
        return "" if 200 <= status < 300 else f"HTTP {status}"

    def _post(self, receiver: Receiver, event: OutgoingEvent) -> int:
        section = self.limes.settings.notifications.project_webhooks
        target = targets.read_target(receiver.url, section)
        addresses = targets.checked_addresses(target, section, self.resolve)
        body, timestamp = event.document.encode(), str(int(self.limes.now()))
        headers = {
            "Content-Type": "application/json",
            "Limes-Message-Id": event.id,
            "Limes-Timestamp": timestamp,
            "Limes-Signature": sign(receiver.secret, timestamp, body),
        }
        with PinnedSession(addresses, _LIMITS) as session:
            session.verify = str(section.cacert) if section.cacert else True
            return session.post(receiver.url, data=body, headers=headers, timeout=section.timeout).status_code

    def _note(self, rounds: Mapping[Receiver, _Round]) -> None:
        engine, now = self.limes.engine, self.limes.now()
        for receiver, each in sorted(rounds.items()):
            key = (receiver.project_id, receiver.set_at, now)
            if each.error:
                project_webhooks.note_failure(engine, *key, each.error)
            elif each.has_sent:
                project_webhooks.note_success(engine, *key)
