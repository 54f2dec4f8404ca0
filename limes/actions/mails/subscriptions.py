"""Who does not want which mails: with the signed link of a mail, by an operator, or by users who are signed in.

All are stored alike, by address in lower case; users who share an address share its settings. Doing it twice changes
nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limes.actions.mails.queue_mails import Users
from limes.db.engine import Engine
from limes.db.queries import mails as queries
from limes.errors import BadRequest, Conflict, Unprocessable
from limes.mail.mailer import ALL_KINDS, Subscription, Unsubscribe
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """The use cases of links and operators."""

    engine: Engine
    clock: Clock
    links: Unsubscribe | None = None
    """None: there are no links."""

    def of(self, token: str) -> Subscription:
        """Returns what a link is about. Raises `BadRequest` for a token that we have not signed."""
        found = self.links.read(token) if self.links else None
        if found is None:
            raise BadRequest("this link is not valid: it is not whole, or its key has been changed since")
        return found

    def end(self, recipient: str, kind: str = ALL_KINDS) -> None:
        """From now on, no mails of this kind are made for the recipient."""
        now = self.clock.now().timestamp()
        self.engine.atomic(lambda: queries.unsubscribe(self.engine, recipient.lower(), kind, now))

    def resume(self, recipient: str, kind: str = ALL_KINDS) -> bool:
        """Returns whether there was anything to undo."""
        return self.engine.atomic(lambda: queries.subscribe(self.engine, recipient.lower(), kind)) > 0

    def ended(self) -> list[tuple[str, str, float]]:
        return self.engine.snapshot(lambda: queries.all_unsubscribed(self.engine))


@dataclass(frozen=True, slots=True)
class MailChoices:
    """Which mails a signed-in user gets."""

    address: str | None
    """None: Keystone knows none, so nothing is sent."""
    is_sent: bool
    kinds: Mapping[str, bool]
    """Whether a kind is sent, as far as `is_sent` is true."""


@dataclass(frozen=True, slots=True)
class MailSettings:
    """The use cases of signed-in users. Both raise `Unavailable` if Keystone does not answer."""

    engine: Engine
    clock: Clock
    kinds: Sequence[str]
    """All that Limes tells people by mail."""
    users: Users | None = None
    """None without Keystone: no address is known."""

    def show(self, user_id: str) -> MailChoices:
        address = self._address_of(user_id)
        return self.engine.snapshot(lambda: self._read(address))

    def change(self, user_id: str, is_sent: bool | None, kinds: Sequence[tuple[str, bool]]) -> MailChoices:
        """Changes what is given, and leaves the rest.

        Raises `Unprocessable` for kinds that do not exist, and `Conflict` without an address.
        """
        names = [kind for kind, _ in kinds]
        if unknown := sorted(set(names) - set(self.kinds)):
            raise Unprocessable(f"there is no kind of mail {unknown[0]!r}; there are: {', '.join(self.kinds)}")
        if len(set(names)) < len(names):
            raise Unprocessable("a kind of mail is given twice")
        address = self._address_of(user_id)
        if address is None:
            raise Conflict("no mail address of this user is known, so no mails are sent")
        wanted = dict(kinds) | ({} if is_sent is None else {ALL_KINDS: is_sent})

        def work() -> MailChoices:
            recipient, now = address.lower(), self.clock.now().timestamp()
            queries.change_subscriptions(self.engine, recipient, wanted, now)
            return self._read(address)

        return self.engine.atomic(work)

    def _address_of(self, user_id: str) -> str | None:
        return self.users.address_of(user_id) if self.users is not None and user_id else None

    def _read(self, address: str | None) -> MailChoices:
        recipients = [] if address is None else [address.lower()]
        ended = {kind for _, kind in queries.unsubscribed(self.engine, recipients)}
        return MailChoices(address, ALL_KINDS not in ended, {kind: kind not in ended for kind in self.kinds})
