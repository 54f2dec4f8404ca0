"""The way of a notification to a mail, in the small cloud, with a real mail server."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec import structs

from limes.app.context import Limes
from limes.audit import outbox
from limes.kernel.system import SystemIds
from limes.notifications.deliver import DeliverEvents
from limes.notifications.mail.servers import SmtpMailer
from limes.notifications.mail.templates import Templates, sample
from limes.notifications.recipients import QueueMails, Recipients
from limes.notifications.send_mails import Contents, MailRound, SendMails
from limes.notifications.settings import MailSettings, SmtpSettings
from tests.api.world import BERLIN, GERMANY, UNSUBSCRIBE_LINKS, World
from tests.notifications.test_notifications import NoJitter
from tests.support.limes import with_values
from tests.support.mail_server import MailServer

DAY = 86400
ALICE, BOB = "alice@example.com", "bob@example.com"


@pytest.fixture
def server() -> Iterator[MailServer]:
    server = MailServer().start()
    yield server
    server.stop()


@dataclass
class Post:
    """The way of a notification to a mail."""

    world: World
    server: MailServer
    recipients: Recipients
    queued: int = 0

    def notify(self, kind: str, **changes: Any) -> None:
        """Puts a notification into the outbox, and from there into the queue."""
        self.append(kind, **changes)
        assert not self.deliver().failed

    def append(self, kind: str, **changes: Any) -> None:
        document = {**sample(kind), "id": SystemIds().uuid(), **changes}
        place = {"domain": {"id": GERMANY}, "project": {"id": BERLIN}} if "project" in document else {}
        document = {**document, **place, **changes}
        now = self.world.clock.now().timestamp()
        row = (now, "notify:smtp", BERLIN if place else "compute", document["id"], json.dumps(document))
        self.world.engine.atomic(lambda: outbox.append(self.world.engine, [row]))

    def limes(self, **options: Any) -> Limes:
        """What the jobs work with; `options` are settings of mails."""
        options = {"urgent": ["request_opened"], **options}
        values = {"notifications.mail": MailSettings(**options)}
        return structs.replace(
            self.world.limes, jitter=NoJitter(), settings=with_values(self.world.limes.settings, values)
        )

    def deliver(self) -> Any:
        limes = self.limes()
        sink = QueueMails(limes, self.recipients, "smtp")
        self.world.clock.advance(10)
        section = limes.settings.notifications
        outcome = DeliverEvents(limes, sink, section, what="notification", job="notify:smtp").run_if_due()
        assert outcome is not None
        return outcome

    def job(self, **options: Any) -> SendMails:
        port, sender = self.server.port, "limes@example.com"
        smtp = SmtpSettings(host="127.0.0.1", port=port, security="none", timeout=60, sender=sender)
        return SendMails(self.limes(**options), "smtp", SmtpMailer(smtp), Contents(Templates(), "", UNSUBSCRIBE_LINKS))

    def send(self, after: float = 61, **options: Any) -> MailRound:
        self.world.clock.advance(after)
        outcome = self.job(**options).run_if_due()
        assert outcome is not None
        return outcome

    @property
    def subjects(self) -> list[tuple[str, str]]:
        """Recipient and subject of all mails so far."""
        return [(recipient, str(message["Subject"])) for recipient, message in self.server.received]


def recipients(*addresses: str, **conditions: Any) -> Recipients:
    """One rule, for these addresses."""
    return Recipients(MailSettings(recipients=({"addresses": addresses, **conditions},)))


@pytest.fixture
def post(world: World, server: MailServer) -> Post:
    return Post(world, server, recipients(ALICE))
