"""Who gets mails: notifications are put into the queue of each recipient, for the outbox as a sink; and who wants none.

A notification whose recipients cannot be found, because Keystone does not answer, is tried again later; others go on.
Delivering one twice queues it once.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from limes.app.context import Limes
from limes.audit.sinks import Delivery, OutgoingEvent
from limes.db.engine import Engine
from limes.kernel.errors import BadRequest, Conflict, LimesError, Unavailable, Unprocessable
from limes.kernel.system import Clock
from limes.notifications import queries, rules, settings
from limes.notifications.mail import keystone_users, mailer
from limes.notifications.queries import NewItem
from limes.projects.scope import Place

log = logging.getLogger(__name__)

_BUDGET = 60.0
"""Seconds after which no further notification is started."""


class Recipients(Struct, frozen=True):
    mail: settings.MailSettings
    users: keystone_users.KeystoneUsers | None = None
    """None without Keystone, which alone knows addresses of users."""
    by_project: bool = False
    """Whether the mail service finds them by the project, which stands for them."""

    def of(self, kind: str, place: rules.Place, requester_id: str) -> dict[str, str]:
        """Returns the language by address. The first rule that names an address decides on it. Raises `Unavailable`."""
        general = self.mail.language_of(place)
        if self.by_project:
            return {place.project_uuid: general} if place.project_uuid else {}
        found: dict[str, tuple[str, str]] = {}

        def add(address: str, language: str) -> None:
            found.setdefault(address.lower(), (address, language))

        if self.users is not None and self.mail.to_requester and kind in rules.TO_REQUESTER and requester_id:
            address = self.users.address_of(requester_id)
            if address:
                add(address, general)
        for rule in self.mail.recipients:
            if rule.matches(kind, place):
                for address in self._addresses(rule, place):
                    add(address, rule.language or general)
        return dict(found.values())

    def of_user(self, user_id: str, place: rules.Place) -> dict[str, str] | None:
        """Returns the language by the address of a user; None if the user has no role there any more. Raises
        `Unavailable`."""
        if self.users is None:
            return {}
        if not belongs_to(self.users, user_id, place.project_uuid, place.domain_uuid):
            return None
        address = self.users.address_of(user_id)
        return {address: self.mail.language_of(place)} if address else {}

    def _addresses(self, rule: rules.RecipientRule, place: rules.Place) -> list[str]:
        addresses = list(rule.addresses)
        if self.users is not None:
            if rule.roles_on_project and place.project_uuid:
                addresses += self.users.with_roles("project", place.project_uuid, rule.roles_on_project)
            if rule.roles_on_domain and place.domain_uuid:
                addresses += self.users.with_roles("domain", place.domain_uuid, rule.roles_on_domain)
        return addresses


def belongs_to(users: keystone_users.KeystoneUsers, user_id: str, project_uuid: str, domain_uuid: str) -> bool:
    """Returns whether a user has a role on a project or its domain. Raises `Unavailable`."""
    return users.has_role(user_id, "project", project_uuid) or users.has_role(user_id, "domain", domain_uuid)


class QueueMails(Struct, frozen=True):
    """The sink. See `limes.audit.sinks.Sink`."""

    limes: Limes
    recipients: Recipients
    mail_sink: str

    @property
    def name(self) -> str:
        return rules.PREFIX + self.mail_sink

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        try:
            return self._deliver(events)
        except LimesError as error:
            return Delivery(error=str(error))

    def try_out(self) -> str | None:
        """See `Sink`: the queue is in the database."""
        return None

    def _deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        documents = [orjson.loads(event.document) for event in events]
        documents = self.limes.engine.snapshot(lambda: queries.with_names(self.limes.engine, documents))
        delivered: list[int] = []
        refused: dict[int, str] = {}
        items: list[NewItem] = []
        blocked: set[str] = set()
        until = self.limes.clock.monotonic() + _BUDGET
        for event, document in zip(events, documents, strict=True):
            if event.stream in blocked:
                continue
            if (delivered or refused) and self.limes.clock.monotonic() > until:
                break
            try:
                items += self._items(event, document)
                delivered.append(event.number)
            except Unavailable as error:
                refused[event.number] = str(error)
                blocked.add(event.stream)
        self.limes.engine.atomic(lambda: queries.add_items(self.limes.engine, items))
        return Delivery(delivered, refused)

    def _items(self, event: OutgoingEvent, document: Mapping[str, Any]) -> list[NewItem]:
        kind, domain, project = document["kind"], document.get("domain", {}), document.get("project", {})
        place = rules.Place(
            domain.get("id", ""), domain.get("name", ""), project.get("id", ""), project.get("name", "")
        )
        requester = document.get("request", {}).get("requester", {}).get("id", "")
        mail = self.limes.settings.notifications.mail
        due_at = self.limes.now() + (0 if kind in mail.urgent else mail.gather)
        text = orjson.dumps(document).decode()
        if kind == rules.OWN_THRESHOLD:
            found = self._of_own_threshold(document["user"]["id"], place)
        else:
            found = self.recipients.of(kind, place, requester)
        return [
            NewItem(self.mail_sink, recipient, kind, language, event.id, text, due_at)
            for recipient, language in found.items()
        ]

    def _of_own_threshold(self, user_id: str, place: rules.Place) -> dict[str, str]:
        found = self.recipients.of_user(user_id, place)
        if found is None:
            log.info(
                "user %s has no role on project %s any more: the threshold is forgotten", user_id, place.project_uuid
            )
            engine = self.limes.engine
            engine.atomic(lambda: queries.forget_threshold(engine, user_id, place.project_uuid))
        return found or {}


# -- who does not want which mails: by address in lower case; users who share an address share its settings ----------


class Subscriptions(Struct, frozen=True):
    """With the signed link of a mail, or by an operator. Doing it twice changes nothing."""

    engine: Engine
    clock: Clock
    links: mailer.Unsubscribe | None = None

    def of(self, token: str) -> mailer.Subscription:
        """Returns what a link is about. Raises `BadRequest` for a token that we have not signed."""
        found = self.links.read(token) if self.links else None
        if found is None:
            raise BadRequest("this link is not valid: it is not whole, or its key has been changed since")
        return found

    def end(self, recipient: str, kind: str = mailer.ALL_KINDS) -> None:
        """From now on, no mails of this kind are made for the recipient."""
        now = self.clock.now().timestamp()
        self.engine.atomic(lambda: queries.unsubscribe(self.engine, recipient.lower(), kind, now))

    def resume(self, recipient: str, kind: str = mailer.ALL_KINDS) -> bool:
        """Returns whether there was anything to undo."""
        return self.engine.atomic(lambda: queries.subscribe(self.engine, recipient.lower(), kind)) > 0

    def ended(self) -> list[tuple[str, str, float]]:
        return self.engine.snapshot(lambda: queries.all_unsubscribed(self.engine))


class MailChoices(Struct, frozen=True):
    """Which mails a signed-in user gets."""

    address: str | None
    """None: Keystone knows none, so nothing is sent."""
    is_sent: bool
    kinds: Mapping[str, bool]
    """Whether a kind is sent, as far as `is_sent` is true."""


class MailPreferences(Struct, frozen=True):
    """By users who are signed in. Both raise `Unavailable` if Keystone does not answer."""

    engine: Engine
    clock: Clock
    kinds: Sequence[str]
    """All notifications by mail."""
    users: keystone_users.KeystoneUsers | None = None

    def show(self, user_id: str) -> MailChoices:
        address = self.address_of(user_id)
        return self.engine.snapshot(lambda: self._read(address))

    def change(self, user_id: str, is_sent: bool | None, kinds: Sequence[tuple[str, bool]]) -> MailChoices:
        """Changes what is given, and leaves the rest. Raises `Unprocessable` for kinds that do not exist, and
        `Conflict` without an address."""
        names = [kind for kind, _ in kinds]
        if unknown := sorted(set(names) - set(self.kinds)):
            raise Unprocessable(f"there is no kind of mail {unknown[0]!r}; there are: {', '.join(self.kinds)}")
        if len(set(names)) < len(names):
            raise Unprocessable("a kind of mail is given twice")
        address = self.address_of(user_id)
        if address is None:
            raise Conflict("no mail address of this user is known, so no mails are sent")
        wanted = dict(kinds) | ({} if is_sent is None else {mailer.ALL_KINDS: is_sent})

        def work() -> MailChoices:
            recipient, now = address.lower(), self.clock.now().timestamp()
            queries.change_subscriptions(self.engine, recipient, wanted, now)
            return self._read(address)

        return self.engine.atomic(work)

    def address_of(self, user_id: str) -> str | None:
        return self.users.address_of(user_id) if self.users is not None and user_id else None

    def belongs_to(self, user_id: str, place: Place) -> bool:
        """Returns whether Keystone says that the user has a role on the project or its domain."""
        return self.users is not None and belongs_to(self.users, user_id, place.project_uuid, place.domain_uuid)

    def _read(self, address: str | None) -> MailChoices:
        recipients = [] if address is None else [address.lower()]
        ended = {kind for _, kind in queries.unsubscribed(self.engine, recipients)}
        return MailChoices(address, mailer.ALL_KINDS not in ended, {kind: kind not in ended for kind in self.kinds})
