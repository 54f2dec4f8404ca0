"""The sink `mail_api`: an HTTP service that knows whom to write about a project, as the original Limes uses it.

`POST v1/send-email?from=limes` with `project_id`, `subject`, `mime_type` and `mail_text`. 200 means that the service
has the mail, and 418 that it knows nobody for this project. `Limes-Message-Id` stays the same when a mail is repeated.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import requests
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1.adapter import Adapter

from limes.errors import LimesError
from limes.mail.mailer import SENT, Fate, Mail, MailerDown, Outcome
from limes.redaction import line_of

_PATH = "/v1/send-email?from=limes"
_NOBODY = 418
_ABOUT_THE_MAIL = frozenset({400, 409, 413, 415, 422})


@dataclass(frozen=True, slots=True)
class MailApi:
    """The service. See `Mailer`."""

    adapter: Adapter
    """With our token, at the endpoint of the configuration."""

    @contextmanager
    def open(self) -> Iterator["MailApi"]:
        """Opens nothing: each mail is a request of its own."""
        yield self

    def try_out(self) -> str | None:
        """See `Mailer`. Only a mail would tell whether it takes mails; so this looks whether anything answers."""
        try:
            self.adapter.get("/", raise_exc=False)
        except (ksa_errors.ClientException, requests.RequestException, LimesError) as error:
            return line_of(error)
        return None

    def send(self, mail: Mail) -> Outcome:
        """See `MailSession`."""
        document = {
            "project_id": mail.recipient,
            "subject": mail.subject,
            "mime_type": "text/html",
            "mail_text": mail.html,
        }
        try:
            answer = self.adapter.post(
                _PATH, json=document, headers={"Limes-Message-Id": mail.id}, raise_exc=False, log=False
            )
        except (ksa_errors.ClientException, requests.RequestException, LimesError) as error:
            raise MailerDown(line_of(error)) from None
        status = answer.status_code
        if status == 200:
            return SENT
        if status == _NOBODY:
            return Outcome(Fate.NEVER, "HTTP 418: it knows nobody for this project")
        if status in _ABOUT_THE_MAIL:
            return Outcome(Fate.LATER, f"HTTP {status}")
        raise MailerDown(f"HTTP {status}")
