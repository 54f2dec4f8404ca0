"""Which mails signed-in users get, to the address that Keystone has of them: they see it, and change it.

Choices are stored as those of links in mails are: by address, in lower case. So both do the same, and users who share
an address share its settings. Each change is one transaction, and doing it twice changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limes.actions.mails.queue_mails import Users
from limes.db.engine import Engine
from limes.db.queries import mails as queries
from limes.errors import Conflict, Unprocessable
from limes.mail.unsubscribe import ALL_KINDS
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class MailChoices:
    """What a user gets."""

    address: str | None
    """None: Keystone knows none, so nothing is sent."""
    is_sent: bool
    """Whether anything is."""
    kinds: Mapping[str, bool]
    """Whether a kind is sent, as far as `is_sent` is true."""


@dataclass(frozen=True, slots=True)
class MailSettings:
    """The use cases. Both raise `Unavailable` if Keystone does not answer."""

    engine: Engine
    clock: Clock
    kinds: Sequence[str]
    """All that Limes tells people by mail."""
    users: Users | None = None
    """None without Keystone: no address is known."""

    def show(self, user_id: str) -> MailChoices:
        """Returns what the user gets."""
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
