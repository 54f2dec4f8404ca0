"""Mails as `limes notify preview` shows and sends them."""

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import orjson
from msgspec import Struct

from limes.app.composition import cluster, common, mails
from limes.app.settings import Settings
from limes.audit.outbox import document_of
from limes.kernel.errors import BadRequest, NotFound, StartupError
from limes.kernel.system import SystemClock, SystemIds
from limes.notifications import queries, send_mails
from limes.notifications.mail.mailer import DeliveryStatus, Mail, MailerDown, Subscription
from limes.notifications.mail.templates import KINDS, MailContext, Rendered, RenderError, sample

_SOMEBODY = "somebody@example.com"


class Preview(Struct, frozen=True):
    """A mail as it would be sent."""

    kind: str
    language: str
    mail: Rendered


def preview_mails(
    kinds: Sequence[str], languages: Sequence[str], event: str | None, count: int, send_to: str | None
) -> list[Preview]:
    """Renders mails with samples, or with the notification of an id. Sends them if `send_to` is an address. Raises
    `NotFound`, `BadRequest` for a template that cannot be rendered, and `StartupError` if nothing can be sent."""
    settings = common.load_settings()
    contents = mails.mail_contents(settings.notifications.mail)
    documents = {kind: sample(kind) for kind in kinds or KINDS}
    if event is not None:
        document = _read_event(settings, event)
        documents = {document["kind"]: document}
    known = contents.templates.languages()
    if unknown := sorted(set(languages) - set(known)):
        raise NotFound(f"there are no templates in {', '.join(unknown)}; there are some in {', '.join(known)}")
    found = [
        Preview(kind, language, _render(contents, kind, language, [document] * count, send_to))
        for kind, document in documents.items()
        for language in languages or [settings.notifications.mail.language]
    ]
    if send_to is not None:
        _send(settings, found, send_to)
    return found


def _read_event(settings: Settings, event: str) -> dict[str, Any]:
    with closing(common.open_checked_engine(settings, "limes-notify")) as engine:
        text = engine.snapshot(lambda: document_of(engine, event))
        if text is None:
            raise NotFound(f"there is no notification {event}: they are kept for notifications.delivered_retention")
        document: dict[str, Any] = orjson.loads(text)
        if document.get("kind") not in KINDS:
            raise NotFound(f"{event} is no notification")
        (named,) = engine.snapshot(lambda: queries.with_names(engine, [document]))
    return named


def _render(
    contents: send_mails.Contents, kind: str, language: str, documents: Sequence[dict[str, Any]], recipient: str | None
) -> Rendered:
    link = contents.unsubscribe.link(Subscription(recipient or _SOMEBODY, kind)) if contents.unsubscribe else ""
    try:
        return contents.templates.render(kind, language, documents, MailContext(contents.link, link), strict=True)
    except RenderError as error:
        raise BadRequest(str(error)) from None


def _send(settings: Settings, previews: Sequence[Preview], recipient: str) -> None:
    section = settings.notifications
    if problem := section.smtp.problem():
        raise StartupError(f"notifications: {problem}")
    ids, now = SystemIds(), SystemClock().now().timestamp()
    try:
        with mails.open_mailer("smtp", section, cluster.open_cloud(settings)).open() as session:
            for each in previews:
                mail = Mail(
                    ids.uuid(), recipient, each.mail.subject, each.mail.text, each.mail.html, now, each.language
                )
                outcome = session.send(mail)
                if outcome.fate is not DeliveryStatus.SENT:
                    raise StartupError(f"the server does not take the mail to {recipient}: {outcome.reason}")
    except MailerDown as error:
        raise StartupError(str(error)) from None
