"""A mail, and the contract of those who take it."""

import enum
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail to one recipient. A repetition has the same id and the same contents."""

    id: str
    recipient: str
    """An address; for the sink `mail_api`, the UUID of a project."""
    subject: str
    """One line."""
    text: str
    html: str
    at: float
    """When it was made, in seconds since the epoch."""
    language: str = "en"
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further ones. Values are one line each."""


class Fate(enum.Enum):
    """What became of a mail."""

    SENT = "sent"
    LATER = "later"
    """The server refuses it, or its recipient, for now."""
    NEVER = "never"
    """The server refuses it, or its recipient, for good."""


class Outcome(NamedTuple):
    """What became of a mail, and why."""

    fate: Fate
    reason: str = ""
    """Without secrets."""


SENT = Outcome(Fate.SENT)


class MailerDown(Exception):
    """No mail can be sent now. The text has no secret in it."""


class MailSession(Protocol):
    """An open connection, for one mail after the other."""

    def send(self, mail: Mail) -> Outcome:
        """Sends a mail. Raises `MailerDown`: then nobody knows whether it has arrived, and the session is over."""
        ...


class Mailer(Protocol):
    """A server that takes mail.

    Contract: all calls return in bounded time. Nothing but `MailerDown` is raised, by opening and by sending.
    """

    def open(self) -> AbstractContextManager[MailSession]:
        """Connects and logs in."""
        ...

    def try_out(self) -> str | None:
        """Returns why it could not take mail now; None if it could. Sends nothing, and raises nothing."""
        ...
