"""Requests about what one is told, and how."""

from limes.api import levels, policy
from limes.api.call import GET, POST, PUT, Operation
from limes.notifications import answers, bodies, handlers
from limes.notifications.mail import mailer
from limes.web.call import Html

_INBOX = {200: answers.InboxAnswer}
_WEBHOOK_RULE, _WEBHOOK = "project:set_webhook", {200: answers.WebhookAnswer}
_THRESHOLD = {200: answers.MyThresholdAnswer}

SECTIONS = {
    "notifications": {
        "/v1/mail-settings": GET(
            handlers.show_mail_settings, "user:mail_settings", {200: answers.MailSettingsAnswer}, (404, 503)
        )
        | PUT(
            handlers.set_mail_settings,
            "user:mail_settings",
            {200: answers.MailSettingsAnswer},
            (404, 409, 422, 503),
            body=bodies.MailSettingsBody,
        ),
        "/v1/inbox": GET(handlers.show_inbox, "user:inbox", _INBOX, parameters=(handlers.LIMIT, handlers.MARKER))
        | PUT(handlers.mark_inbox, "user:inbox", _INBOX, body=bodies.InboxSeenBody),
        f"{levels.PROJECT}/my-threshold": GET(handlers.show_my_threshold, "project:show", _THRESHOLD, (404, 503))
        | PUT(handlers.set_my_threshold, "project:show", _THRESHOLD, (404, 409, 422, 503), body=bodies.MyThresholdBody),
        f"{levels.PROJECT}/webhook": GET(handlers.show_webhook, _WEBHOOK_RULE, _WEBHOOK, (404,))
        | PUT(handlers.set_webhook, _WEBHOOK_RULE, _WEBHOOK, (404, 422), body=bodies.WebhookBody)
        | {"DELETE": Operation(handlers.remove_webhook, _WEBHOOK_RULE, {204: None}, (404,))},
        mailer.PATH: GET(
            handlers.show_unsubscribe,
            None,
            {200: Html},
            (404, 413, 500, 503),
            (handlers.UNSUBSCRIBE_TOKEN,),
            public=True,
        )
        | POST(
            handlers.unsubscribe, None, {200: Html}, (404, 413, 500, 503), (handlers.UNSUBSCRIBE_TOKEN,), public=True
        ),
    }
}

RULES = (
    *policy.rules(
        "user",
        mail_settings=("@", "See and choose which mails Limes sends to the token's user."),
        inbox=("@", "See what was decided on the requests for quota of the token's user."),
    ),
    *policy.rules("project", set_webhook=("project_editor", "See, set and remove a project's own webhook.")),
)
