"""What takes mail: a mail server (the sink `smtp`), or an HTTP service (`mail_api`).

With SMTP, a refusal with 5xx is permanent, and one with 4xx temporary. What a server refuses as a matter of policy
(relaying, a login that it misses) may just as well be a mistake in its configuration: that is a refusal for now.
"""

import re
import smtplib
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import policy
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import Policy
from email.utils import formatdate

import requests
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1.adapter import Adapter
from msgspec import Struct

from limes.kernel.errors import LimesError
from limes.kernel.redaction import line_of, redact
from limes.notifications.mail.mailer import SENT, DeliveryStatus, Mail, MailerDown, MailResult, one_line
from limes.notifications.settings import SmtpSettings


class _LinkHeader(BaseHeader):
    """A header that is sent in one line: mail programs do not read a link in encoded words (RFC 2047), to which the
    standard library turns what is too long for a line."""

    max_count = 1
    parse = UnstructuredHeader.parse
    value_parser = UnstructuredHeader.value_parser

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("List-Unsubscribe", _LinkHeader)
_POLICY = policy.SMTP.clone(cte_type="7bit", header_factory=_HEADERS)
_CLOSING = 421
_OUR_FAULT = frozenset({530, 534, 535, 538})
_SESSION = 240.0
"""Seconds after which a connection is cut, however slowly the server answers: before the lease of the job ends."""


class SmtpMailer(Struct, frozen=True):
    """A mail server. See `Mailer`."""

    server: SmtpSettings
    session: float = _SESSION

    @contextmanager
    def open(self) -> Iterator["SmtpSession"]:
        where = f"{self.server.host}:{self.server.port}"
        with _explained(where):
            client = _connect(self.server)
        guard = threading.Timer(self.session, _cut, [client])
        guard.daemon = True
        guard.start()
        try:
            with _explained(where):
                _greet(client, self.server)
            yield SmtpSession(client, self.server, where)
        finally:
            with suppress(smtplib.SMTPException, OSError):
                client.quit()
            guard.cancel()
            client.close()

    def try_out(self) -> str | None:
        """See `Mailer`: connects, logs in, and asks whether our sender may send."""
        try:
            with self.open() as session:
                session.try_sender()
        except MailerDown as error:
            return str(error)
        return None


def _connect(server: SmtpSettings) -> smtplib.SMTP:
    if server.security == "tls":
        return smtplib.SMTP_SSL(server.host, server.port, timeout=server.timeout, context=_context(server))
    return smtplib.SMTP(server.host, server.port, timeout=server.timeout)


def _greet(client: smtplib.SMTP, server: SmtpSettings) -> None:
    client.ehlo_or_helo_if_needed()
    if server.security == "starttls":
        client.starttls(context=_context(server))
        client.ehlo_or_helo_if_needed()
    if server.username is not None:
        client.login(server.username, server.password or "")


def _context(server: SmtpSettings) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(server.cacert) if server.cacert else None)


def _cut(client: smtplib.SMTP) -> None:
    if client.sock is not None:
        with suppress(OSError):
            client.sock.shutdown(2)


class SmtpSession(Struct, frozen=True):
    client: smtplib.SMTP
    server: SmtpSettings
    where: str

    def try_sender(self) -> None:
        """Raises `MailerDown` if our sender may not send."""
        with _explained(self.where):
            self._begin()
            self.client.rset()

    def send(self, mail: Mail) -> MailResult:
        with _explained(self.where):
            self._begin()
            code, answer = self.client.rcpt(mail.recipient)
            if code not in (250, 251, 252):
                self._reset(code)
                return self._refusal(code, answer)
            code, answer = self.client.data(render_message(mail, self.server))
            return SENT if 200 <= code < 300 else self._refusal(code, answer)

    def _begin(self) -> None:
        sender = self.server.sender or ""
        code, answer = self.client.mail(sender)
        if code != 250:
            self._reset(code)
            raise MailerDown(f"{self.where} does not accept the sender {sender}: {_said(code, answer)}")

    def _reset(self, code: int) -> None:
        if code != _CLOSING:
            self.client.rset()

    def _refusal(self, code: int, answer: bytes) -> MailResult:
        if code == _CLOSING:
            raise MailerDown(f"{self.where}: {_said(code, answer)}")
        is_for_good = code >= 500 and code not in _OUR_FAULT and not re.match(rb"\s*5\.7\.", answer)
        return MailResult(DeliveryStatus.NEVER if is_for_good else DeliveryStatus.LATER, _said(code, answer))


def render_message(mail: Mail, server: SmtpSettings) -> bytes:
    """Returns the mail as it is sent: in ASCII, with text and HTML. A header cannot be smuggled in: the subject and all
    other values are cut to one line, and the policy refuses others."""
    user, _, host = (server.sender or "").rpartition("@")
    message = EmailMessage(policy=_POLICY)
    message["From"] = Address(one_line(server.sender_name), user, host)
    message["To"] = Address("", *mail.recipient.rsplit("@", 1))
    if server.reply_to:
        message["Reply-To"] = server.reply_to
    message["Subject"] = one_line(mail.subject)
    message["Date"] = formatdate(mail.at)
    message["Message-ID"] = f"<{mail.id}@{host}>"
    message["Auto-Submitted"] = "auto-generated"
    for name, value in mail.headers.items():
        message[name] = one_line(value)
    message.set_content(mail.text, cte="quoted-printable")
    message.add_alternative(mail.html, subtype="html", cte="quoted-printable")
    message["Content-Language"] = mail.language  # last: what makes the parts takes such headers away
    message.set_boundary(f"limes-{mail.id}")
    return message.as_bytes()


@contextmanager
def _explained(where: str) -> Iterator[None]:
    try:
        yield
    except smtplib.SMTPResponseException as error:
        raise MailerDown(f"{where}: {_said(error.smtp_code, error.smtp_error)}") from None
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise MailerDown(f"{where}: {line_of(error)}") from None


def _said(code: int, answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else str(answer)
    return f"{code} {one_line(redact(text), 300)}"


# -- the sink `mail_api` -----------------------------------------------------------------------------------------------

_PATH = "/v1/send-email?from=limes"
_NOBODY = 418
_ABOUT_THE_MAIL = frozenset({400, 409, 413, 415, 422})
_ERRORS = (ksa_errors.ClientException, requests.RequestException, LimesError)


class MailApi(Struct, frozen=True):
    """A service that knows whom to write about a project, as the original Limes uses it. See `Mailer`. 200 means that
    it has the mail, and 418 that it knows no recipient. `Limes-Message-Id` is the same for a repeated mail."""

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
        except _ERRORS as error:
            return line_of(error)
        return None

    def send(self, mail: Mail) -> MailResult:
        document = {
            "project_id": mail.recipient,
            "subject": mail.subject,
            "mime_type": "text/html",
            "mail_text": mail.html,
        }
        try:
            headers = {"Limes-Message-Id": mail.id}
            status = self.adapter.post(_PATH, json=document, headers=headers, raise_exc=False, log=False).status_code
        except _ERRORS as error:
            raise MailerDown(line_of(error)) from None
        if status == 200:
            return SENT
        if status == _NOBODY:
            return MailResult(DeliveryStatus.NEVER, "HTTP 418: it knows no recipient for this project")
        if status in _ABOUT_THE_MAIL:
            return MailResult(DeliveryStatus.LATER, f"HTTP {status}")
        raise MailerDown(f"HTTP {status}")
