"""Makes mails of what is queued, and sends them.

Invariants:

- Each recipient gets at most one mail of a kind within `digest`, of an urgent one within `gather`. Mails are made under
  the lock on the job's row, by the collector whose claim on the job has not ended.
- What is in a mail is decided before it is sent for the first time. So a repetition, after a crash or a lost
  connection, has the same id and the same contents, and nothing is in two mails.
- Nothing is lost: an item is part of a mail, or waits; a mail is marked once the server has taken it, or has refused it
  permanently, or temporarily for longer than `give_up`.

A mail that could not be sent waits for longer after each failure, and others go first.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence

import orjson
from msgspec import Struct, field

from limes.app.context import Limes
from limes.notifications import deliver, queries
from limes.notifications.mail import mailer as mailing
from limes.notifications.mail.templates import MailContext, RenderError, Templates
from limes.notifications.queries import MailRow, WaitingItem
from limes.projects.claims import claim_job, finish_job, never, next_pause

log = logging.getLogger(__name__)

_BATCH = 50
_RECIPIENTS = 200
_CLEANUP_BATCH = 1000
_ONE_CLICK = {"List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


class MailRound(Struct):
    sent: int = 0
    dropped: int = 0
    retried: int = 0
    error: str | None = None

    def count(self, outcome: mailing.MailResult, *, given_up: bool) -> None:
        if outcome.fate is mailing.DeliveryStatus.SENT:
            self.sent += 1
        elif given_up:
            self.dropped += 1
        else:
            self.retried += 1


class Contents(Struct, frozen=True):
    templates: Templates
    link: str = ""
    unsubscribe: mailing.Unsubscribe | None = None


class SendMails(Struct, frozen=True):
    limes: Limes
    sink: str
    mailer: mailing.Mailer
    contents: Contents
    interval: float = 5.0
    failures: deliver.Failures = field(default_factory=deliver.Failures)

    @property
    def name(self) -> str:
        return f"mails:{self.sink}"

    def run_if_due(self) -> MailRound | None:
        """Makes and sends mails. None if it is not due yet, or another collector is doing it."""
        engine, clock, section = self.limes.engine, self.limes.clock, self.limes.settings.notifications
        claimed_until = claim_job(self.limes, self.name, self.interval, section.retry_max)
        if claimed_until is None:
            return None
        outcome = MailRound()
        deadline = clock.monotonic() + self.limes.lease / 2  # no other run starts before this one has ended
        while engine.atomic(lambda: self._make(claimed_until)) and clock.monotonic() < deadline:
            pass
        while outcome.error is None and clock.monotonic() < deadline:
            mails = engine.snapshot(self._due)
            if not mails:
                break
            self._send(mails, outcome, deadline)
        before = self.limes.now() - max(section.delivered_retention, section.mail.digest)
        engine.atomic(lambda: queries.forget_done(engine, self.sink, before, _CLEANUP_BATCH))
        failures = self.failures.count(failed=outcome.error is not None)
        if outcome.error is not None:
            log.error("mails wait for the sink %s: %s", self.sink, outcome.error)
        pause = self.interval if outcome.error is None else self._pause(failures)
        finish_job(self.limes, self.name, claimed_until, pause, outcome.error or "")
        return outcome

    # -- mails of items ------------------------------------------------------------------------------------------------

    def _make(self, lease: float) -> int:
        engine, section = self.limes.engine, self.limes.settings.notifications.mail
        if queries.lock_lease(engine, self.name) != lease:
            return 0
        now = self.limes.now()
        items = queries.waiting_of_due_recipients(engine, self.sink, now, self._horizon(now), _RECIPIENTS)
        recipients = {item.recipient.lower() for item in items.values()}
        last = queries.last_made(engine, self.sink, recipients)
        unwanted = set(queries.unsubscribed(engine, recipients))
        mails: list[MailRow] = []
        numbers: dict[int, str] = {}
        deferred: dict[int, float] = {}
        dropped: list[int] = []
        groups: dict[tuple[str, str], dict[int, WaitingItem]] = defaultdict(dict)
        for number, item in items.items():  # one person, however the case of the address is written
            groups[item.recipient.lower(), item.kind][number] = item
        for (recipient, kind), group in groups.items():
            due = [number for number, item in group.items() if item.due_at <= now or item.due_at > self._horizon(now)]
            made_at = last.get((recipient, kind), 0.0)
            next_at = made_at + (section.gather if kind in section.urgent else section.digest)
            if {(recipient, kind), (recipient, mailing.ALL_KINDS)} & unwanted:
                dropped += group
            elif due and now < next_at and made_at <= now:  # a mail of the future was made by a wrong clock
                deferred |= dict.fromkeys(due, next_at)
            elif due:
                oldest, newest = group[min(group)], group[max(group)]
                mail = MailRow(self.limes.ids.uuid(), oldest.recipient, kind, newest.language, now, 0)
                mails.append(mail)
                numbers |= dict.fromkeys(group, mail.id)
        queries.drop_items(engine, dropped)
        queries.defer_items(engine, deferred)
        queries.make_mails(engine, self.sink, mails, numbers)
        return len(recipients)

    def _horizon(self, now: float) -> float:
        """Returns a time that only a wrong clock can have written."""
        mail = self.limes.settings.notifications.mail
        return never(now, mail.digest, mail.gather, self.limes.settings.notifications.retry_max)

    # -- mails to the server -------------------------------------------------------------------------------------------

    def _due(self) -> list[MailRow]:
        now = self.limes.now()
        return queries.due_mails(self.limes.engine, self.sink, now, self._horizon(now), _BATCH)

    def _send(self, mails: Sequence[MailRow], outcome: MailRound, deadline: float) -> None:
        engine, ids = self.limes.engine, [mail.id for mail in mails]
        documents = engine.snapshot(lambda: queries.documents_of(engine, ids))
        try:
            with self.mailer.open() as session:
                for row in mails:
                    if self.limes.clock.monotonic() > deadline:
                        return
                    self._send_one(session, row, documents[row.id], outcome)
        except mailing.MailerDown as error:
            outcome.error = str(error)

    def _send_one(
        self, session: mailing.MailSession, row: MailRow, documents: Sequence[str], outcome: MailRound
    ) -> None:
        try:
            mail = self._render(row, documents)
            result = session.send(mail) if isinstance(mail, mailing.Mail) else mail
        except mailing.MailerDown as error:
            # should it be this mail that the server cannot bear, then others go first
            self._try_later(row, str(error))
            raise
        engine, now = self.limes.engine, self.limes.now()
        too_late = now - row.made_at > self.limes.settings.notifications.mail.give_up
        given_up = result.fate is mailing.DeliveryStatus.NEVER or (
            result.fate is mailing.DeliveryStatus.LATER and too_late
        )
        outcome.count(result, given_up=given_up)
        if result.fate is not mailing.DeliveryStatus.SENT and not given_up:
            log.warning("mail %s to %s is tried again: %s", row.id, row.recipient, result.reason)
            self._try_later(row, result.reason)
            return
        if given_up:
            log.error("mail %s to %s is dropped: %s", row.id, row.recipient, result.reason)
        engine.atomic(lambda: queries.mark_done(engine, row.id, now, result.reason))

    def _try_later(self, row: MailRow, reason: str) -> None:
        at = self.limes.now() + self.limes.jitter.spread(self._pause(row.tries + 1))
        self.limes.engine.atomic(lambda: queries.try_later(self.limes.engine, row.id, at, reason))

    def _render(self, row: MailRow, documents: Sequence[str]) -> mailing.Mail | mailing.MailResult:
        try:
            return self._mail(row, documents)
        except RenderError as error:
            return mailing.MailResult(mailing.DeliveryStatus.LATER, str(error))
        except Exception as error:  # a bug, which must not stop all other mails
            log.exception("mail %s cannot be made", row.id)
            return mailing.MailResult(mailing.DeliveryStatus.LATER, f"internal error: {type(error).__name__}")

    def _mail(self, row: MailRow, documents: Sequence[str]) -> mailing.Mail:
        unsubscribe = self.contents.unsubscribe
        link = (
            unsubscribe.link(mailing.Subscription(row.recipient, row.kind))
            if unsubscribe and "@" in row.recipient
            else ""
        )
        around = MailContext(self.contents.link, link)
        parsed = [orjson.loads(document) for document in documents]
        rendered = self.contents.templates.render(row.kind, row.language, parsed, around)
        headers = {"Limes-Kind": row.kind, **({"List-Unsubscribe": f"<{link}>", **_ONE_CLICK} if link else {})}
        return mailing.Mail(
            row.id, row.recipient, rendered.subject, rendered.text, rendered.html, row.made_at, row.language, headers
        )

    def _pause(self, failures: int) -> float:
        section = self.limes.settings.notifications
        return next_pause(failures, section.retry, section.retry_max)
