"""Which mails the caller gets."""

from limes.actions.mails.mail_settings import MailSettings
from limes.api.answers.caller import render_mail_settings
from limes.api.call import Call
from limes.api.strict_bodies import MailSettingsBody
from limes.errors import NotFound
from limes.web.call import Answer


def show_mail_settings(call: Call) -> Answer:
    """Shows which mails the user of the request's own token gets, and at which address."""
    return Answer(document=render_mail_settings(_settings(call).show(call.identity.user_id or "")))


def set_mail_settings(call: Call) -> Answer:
    """Unsubscribes the user of the request's own token from mails, or undoes that. What is not named stays."""
    settings, wanted = _settings(call), call.body(MailSettingsBody).mail_settings
    kinds = [(each.kind, each.sent) for each in wanted.kinds]
    return Answer(document=render_mail_settings(settings.change(call.identity.user_id or "", wanted.sent, kinds)))


def _settings(call: Call) -> MailSettings:
    if call.deps.mail_settings is None:
        raise NotFound("this Limes sends no mails to users")
    return call.deps.mail_settings
