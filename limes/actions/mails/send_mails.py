"""Makes mails of what is queued, and sends them.

Invariants:

- Each recipient gets at most one mail of a kind within `digest`, of an urgent one within `gather`. Mails are made under
  the lock on the job's row, by the collector whose claim on the job has not ended.
- What is in a mail is decided before it is sent for the first time. So a repetition, after a crash or a lost
  connection, has the same id and the same contents, and nothing is in two mails.
- Nothing is lost: an item is part of a mail, or waits; a mail is marked once the server has taken it, or has refused it
  for good, or for now and for longer than `give_up`.

A mail that could not be sent waits for longer after each failure, and others go first.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from limes.actions.deliver_events import Failures
from limes.actions.project_tasks import never
from limes.db.engine import Engine
from limes.db.queries import mails as queries
from limes.db.queries import tasks
from limes.db.queries.mails import MailRow, WaitingItem
from limes.mail.mailer import Fate, Mail, Mailer, MailerDown, MailSession, Outcome
from limes.mail.templates import Around, RenderError, Templates
from limes.mail.unsubscribe import ALL_KINDS, Subscription, Unsubscribe
from limes.system import Clock, IdSource, Jitter

log = logging.getLogger(__name__)

_BATCH = 50
_RECIPIENTS = 200
_CLEANUP_BATCH = 1000
_ONE_CLICK = {"List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


@dataclass(slots=True)
class Sent:
    """How a run went: numbers of mails."""

    sent: int = 0
    dropped: int = 0
    retried: int = 0
    error: str | None = None
    """Why the server took none, if so."""

    def count(self, outcome: Outcome, *, given_up: bool) -> None:
        if outcome.fate is Fate.SENT:
            self.sent += 1
        elif given_up:
            self.dropped += 1
        else:
            self.retried += 1


@dataclass(frozen=True, slots=True)
class Contents:
    """What mails look like."""

    templates: Templates
    link: str = ""
    unsubscribe: Unsubscribe | None = None


@dataclass(frozen=True, slots=True)
class SendMails:
    """The use case for one sink. Durations are in seconds."""

    engine: Engine
    clock: Clock
    jitter: Jitter
    ids: IdSource
    sink: str
    mailer: Mailer
    contents: Contents
    digest: float = 86400.0
    gather: float = 60.0
    urgent: frozenset[str] = frozenset()
    give_up: float = 5 * 86400.0
    interval: float = 5.0
    retry: float = 10.0
    retry_max: float = 600.0
    lease: float = 300.0
    retention: float = 7 * 86400.0
    failures: Failures = field(default_factory=Failures)

    @property
    def name(self) -> str:
        """The name of the job."""
        return f"mails:{self.sink}"

    def run_if_due(self) -> Sent | None:
        """Makes and sends mails. None if it is not due yet, or another collector is doing it."""
        started = self._now()
        lease = started + self.lease
        horizon = never(started, self.interval, self.retry_max, self.lease)
        if not self.engine.atomic(lambda: tasks.claim_job(self.engine, self.name, started, lease, horizon)):
            return None
        outcome = Sent()
        deadline = self.clock.monotonic() + self.lease / 2  # nobody else begins before this run has ended
        while self.engine.atomic(lambda: self._make(lease)) and self.clock.monotonic() < deadline:
            pass
        while outcome.error is None and self.clock.monotonic() < deadline:
            mails = self.engine.snapshot(self._due)
            if not mails:
                break
            self._send(mails, outcome, deadline)
        before = self._now() - max(self.retention, self.digest)
        self.engine.atomic(lambda: queries.forget_done(self.engine, self.sink, before, _CLEANUP_BATCH))
        self._finish(lease, outcome.error)
        return outcome

    # -- mails of items ------------------------------------------------------------------------------------------------

    def _make(self, lease: float) -> int:
        """Makes mails for the recipients who have something due. Returns how many recipients there were."""
        if queries.lock_lease(self.engine, self.name) != lease:
            return 0
        now = self._now()
        items = queries.waiting_of_due_recipients(self.engine, self.sink, now, self._horizon(now), _RECIPIENTS)
        recipients = {item.recipient.lower() for item in items}
        last = queries.last_made(self.engine, self.sink, recipients)
        unwanted = set(queries.unsubscribed(self.engine, recipients))
        mails: list[MailRow] = []
        numbers: dict[int, str] = {}
        deferred: dict[int, float] = {}
        dropped: list[int] = []
        for (recipient, kind), group in _groups(items).items():
            due = [item for item in group if item.due_at <= now or item.due_at > self._horizon(now)]
            made_at = last.get((recipient, kind), 0.0)
            next_at = made_at + (self.gather if kind in self.urgent else self.digest)
            if {(recipient, kind), (recipient, ALL_KINDS)} & unwanted:
                dropped += [item.number for item in group]
            elif due and now < next_at and made_at <= now:  # a mail of the future was made by a wrong clock
                deferred |= {item.number: next_at for item in due}
            elif due:
                mail = MailRow(self.ids.uuid(), group[0].recipient, kind, group[-1].language, now, 0)
                mails.append(mail)
                numbers |= {item.number: mail.id for item in group}
        queries.drop_items(self.engine, dropped)
        queries.defer_items(self.engine, deferred)
        queries.make_mails(self.engine, self.sink, mails, numbers)
        return len(recipients)

    def _horizon(self, now: float) -> float:
        """Returns a time that only a wrong clock can have written."""
        return never(now, self.digest, self.gather, self.retry_max)

    # -- mails to the server -------------------------------------------------------------------------------------------

    def _due(self) -> list[MailRow]:
        now = self._now()
        return queries.due_mails(self.engine, self.sink, now, self._horizon(now), _BATCH)

    def _send(self, mails: Sequence[MailRow], outcome: Sent, deadline: float) -> None:
        documents = self.engine.snapshot(lambda: queries.documents_of(self.engine, [mail.id for mail in mails]))
        try:
            with self.mailer.open() as session:
                for row in mails:
                    if self.clock.monotonic() > deadline:
                        return
                    self._send_one(session, row, documents[row.id], outcome)
        except MailerDown as error:
            outcome.error = str(error)

    def _send_one(self, session: MailSession, row: MailRow, documents: Sequence[str], outcome: Sent) -> None:
        try:
            mail = self._render(row, documents)
            result = session.send(mail) if isinstance(mail, Mail) else mail
        except MailerDown as error:
            # should it be this mail that the server cannot bear, then others go first
            self._try_later(row, str(error))
            raise
        given_up = result.fate is Fate.NEVER or (result.fate is Fate.LATER and self._now() - row.made_at > self.give_up)
        outcome.count(result, given_up=given_up)
        if result.fate is not Fate.SENT and not given_up:
            log.warning("mail %s to %s is tried again: %s", row.id, row.recipient, result.reason)
            self._try_later(row, result.reason)
            return
        if given_up:
            log.error("mail %s to %s is dropped: %s", row.id, row.recipient, result.reason)
        self.engine.atomic(lambda: queries.mark_done(self.engine, row.id, self._now(), result.reason))

    def _try_later(self, row: MailRow, reason: str) -> None:
        at = self._now() + self.jitter.spread(self._pause(row.tries + 1))
        self.engine.atomic(lambda: queries.try_later(self.engine, row.id, at, reason))

    def _render(self, row: MailRow, documents: Sequence[str]) -> Mail | Outcome:
        try:
            return self._mail(row, documents)
        except RenderError as error:
            return Outcome(Fate.LATER, str(error))
        except Exception as error:  # a bug, which must not stop all other mails
            log.exception("mail %s cannot be made", row.id)
            return Outcome(Fate.LATER, f"internal error: {type(error).__name__}")

    def _mail(self, row: MailRow, documents: Sequence[str]) -> Mail:
        unsubscribe = self.contents.unsubscribe
        link = unsubscribe.link(Subscription(row.recipient, row.kind)) if unsubscribe and "@" in row.recipient else ""
        around = Around(self.contents.link, link)
        parsed = [orjson.loads(document) for document in documents]
        rendered = self.contents.templates.render(row.kind, row.language, parsed, around)
        headers = {"Limes-Kind": row.kind, **({"List-Unsubscribe": f"<{link}>", **_ONE_CLICK} if link else {})}
        return Mail(
            row.id, row.recipient, rendered.subject, rendered.text, rendered.html, row.made_at, row.language, headers
        )

    # -- times ---------------------------------------------------------------------------------------------------------

    def _finish(self, lease: float, error: str | None) -> None:
        failures = self.failures.count(failed=error is not None)
        if error is not None:
            log.error("mails wait for the sink %s: %s", self.sink, error)
        now = self._now()
        next_run_at = now + self.jitter.spread(self.interval if error is None else self._pause(failures))
        self.engine.atomic(lambda: tasks.finish_job(self.engine, self.name, lease, now, next_run_at, error or ""))

    def _pause(self, failures: int) -> float:
        return float(min(self.retry_max, self.retry * 2 ** min(failures - 1, 20)))

    def _now(self) -> float:
        return self.clock.now().timestamp()


def _groups(items: Sequence[WaitingItem]) -> Mapping[tuple[str, str], list[WaitingItem]]:
    """Returns items by kind and recipient: one person, however the case of the address is written."""
    groups: dict[tuple[str, str], list[WaitingItem]] = {}
    for item in items:
        groups.setdefault((item.recipient.lower(), item.kind), []).append(item)
    return groups
