"""Which mails the caller gets; and the page that the link in a mail leads to, which needs only the signed token in it.

GET of the page changes nothing, because programs that look for malware follow links. POST does, which is also what mail
programs send with one click (RFC 8058).
"""

from html import escape
from urllib.parse import parse_qs

import falcon

from limes.api.call import Call
from limes.api.parameters import MAX_LIMIT, Text, WholeNumber
from limes.kernel.errors import NotFound
from limes.notifications import answers, bodies, inbox, project_webhooks, recipients, targets, thresholds
from limes.notifications.mail.mailer import ALL_KINDS, Subscription
from limes.projects.scope import find
from limes.web.call import Answer, read_body

UNSUBSCRIBE_TOKEN = Text("token", "From the link in a mail: what it is about, signed.")


def show_mail_settings(call: Call) -> Answer:
    """Shows which mails the user of the request's own token gets, and at which address."""
    return Answer(document=answers.render_mail_settings(_settings(call).show(call.identity.user_id or "")))


def set_mail_settings(call: Call) -> Answer:
    """Unsubscribes the user of the request's own token from mails, or undoes that. What is not named stays."""
    settings, wanted = _settings(call), call.body(bodies.MailSettingsBody).mail_settings
    kinds = [(each.kind, each.sent) for each in wanted.kinds]
    return Answer(
        document=answers.render_mail_settings(settings.change(call.identity.user_id or "", wanted.sent, kinds))
    )


def _settings(call: Call) -> recipients.MailPreferences:
    if (settings := call.deps.part(recipients.MailPreferences)) is None:
        raise NotFound("this Limes sends no mails to users")
    return settings


def show_my_threshold(call: Call) -> Answer:
    """Shows at which use of a project's quotas the user of the request's own token gets a mail."""
    mails = call.deps.part(recipients.MailPreferences)
    return _threshold(thresholds.show_threshold(call.limes, call.place, call.identity.user_id or "", mails))


def set_my_threshold(call: Call) -> Answer:
    """Sets at which use of a project's quotas the user of the request's own token gets a mail, or removes that."""
    find(call.engine, call.place)
    percent = call.body(bodies.MyThresholdBody).my_threshold.percent
    mails = call.deps.part(recipients.MailPreferences)
    return _threshold(thresholds.change_threshold(call.limes, call.place, call.identity.user_id or "", percent, mails))


def _threshold(found: thresholds.MyThreshold) -> Answer:
    percent, address = found
    return Answer(
        document=answers.MyThresholdAnswer(my_threshold=answers.MyThreshold(percent=percent, address=address))
    )


def show_webhook(call: Call) -> Answer:
    """Shows the project's own webhook, without its secret."""
    _require_webhooks(call)
    return Answer(document=answers.render_webhook(project_webhooks.show_webhook(call.limes, call.place)))


def set_webhook(call: Call) -> Answer:
    """Sets where notifications about the project are sent to. The new secret is only in this answer."""
    _require_webhooks(call)
    resolve = call.deps.part(targets.Resolver) or targets.Resolver()
    url = call.body(bodies.WebhookBody).webhook.url
    return Answer(
        document=answers.render_webhook(*project_webhooks.set_webhook(call.as_caller(), call.place, url, resolve))
    )


def remove_webhook(call: Call) -> Answer:
    """Removes the project's own webhook."""
    _require_webhooks(call)
    project_webhooks.remove_webhook(call.as_caller(), call.place)
    return Answer(204)


def _require_webhooks(call: Call) -> None:
    """Raises `NotFound` for what does not exist, and where operators allow no webhooks."""
    find(call.engine, call.place)
    project_webhooks.require_feature(call.limes)


LIMIT = WholeNumber("limit", "Maximum number of items.", 1, MAX_LIMIT, 50)
MARKER = WholeNumber("marker", "Only items before the one of this number.", 1, 2**62, 2**62)


def show_inbox(call: Call) -> Answer:
    """Shows what was decided on the requests for quota of the token's user, and what others have said about them."""
    limit, before = LIMIT.of(call.req), MARKER.of(call.req)
    found = inbox.show_inbox(call.limes, call.identity.user_id or "", before, limit)
    links = call.next_link(str(found.items[-1].number)) if len(found.items) == limit else []
    return Answer(document=answers.render_inbox(found, links))


def mark_inbox(call: Call) -> Answer:
    """Marks what came until a time as seen by the token's user."""
    inbox.mark_seen(call.limes, call.identity.user_id or "", call.body(bodies.InboxSeenBody).seen_at)
    return show_inbox(call)


# -- the page of a link ------------------------------------------------------------------------------------------------

_MAX_BODY = 4096
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def show_unsubscribe(call: Call) -> Answer:
    """Shows what the link in a mail unsubscribes from, as a page with a button."""
    found = _subscriptions(call).of(UNSUBSCRIBE_TOKEN.of(call.req) or "")
    return _page(f"Stop sending {_mails(found)} to {found.recipient}?", "unsubscribe", "Stop")


def unsubscribe(call: Call) -> Answer:
    """Unsubscribes the recipient of a mail from mails of its kind, or undoes that.

    With `action=subscribe` in the form, they are sent again. Anything else unsubscribes, as mail programs do.
    """
    subscriptions = _subscriptions(call)
    found = subscriptions.of(UNSUBSCRIBE_TOKEN.of(call.req) or "")
    body = read_body(call.req, _MAX_BODY)
    if body is None:
        raise falcon.HTTPContentTooLarge(description=f"request body is too large: the limit is {_MAX_BODY} bytes")
    form = parse_qs(body.decode("utf-8", "replace"))
    if form.get("action") == ["subscribe"]:
        subscriptions.resume(found.recipient, found.kind)
        return _page(f"{found.recipient} gets {_mails(found)} again.", "unsubscribe", "Stop them")
    subscriptions.end(found.recipient, found.kind)
    return _page(f"{found.recipient} gets no more {_mails(found)}.", "subscribe", "Undo")


def _subscriptions(call: Call) -> recipients.Subscriptions:
    found = call.deps.part(recipients.Subscriptions)
    if found is None or found.links is None:
        raise NotFound("mails of this Limes have no links to unsubscribe")
    return found


def _mails(subscription: Subscription) -> str:
    return "mails" if subscription.kind == ALL_KINDS else f"mails of the kind {subscription.kind}"


def _page(text: str, action: str, button: str) -> Answer:
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Limes: mails</title>'
        '<meta name="viewport" content="width=device-width"></head>\n'
        f'<body><p>{escape(text)}</p>\n<form method="post">'
        f'<button name="action" value="{action}">{button}</button></form></body></html>\n'
    )
    return Answer(page=page, headers=_HEADERS)
