"""Who does not want which mails: with the signed link of a mail, or by an operator."""

from dataclasses import dataclass

from limes.db.engine import Engine
from limes.db.queries import mails as queries
from limes.errors import BadRequest
from limes.mail.unsubscribe import ALL_KINDS, Subscription, Unsubscribe
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """The use cases. Doing one of them twice changes nothing."""

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
        """Undoes `end`. Returns whether there was anything to undo."""
        return self.engine.atomic(lambda: queries.subscribe(self.engine, recipient.lower(), kind)) > 0

    def ended(self) -> list[tuple[str, str, float]]:
        """Returns recipient, kind and time of all that was ended."""
        return self.engine.snapshot(lambda: queries.all_unsubscribed(self.engine))
