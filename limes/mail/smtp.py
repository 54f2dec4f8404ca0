"""The sink `smtp`: a mail server, with STARTTLS or TLS, and a login.

A refusal with 5xx is for good, and one with 4xx for now. What a server refuses as a matter of policy (relaying, a login
that it misses) may just as well be a mistake in its configuration, so that counts as a refusal for now.
"""

import re
import smtplib
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email import policy
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import Policy
from email.utils import formatdate
from pathlib import Path

from limes.mail.mailer import SENT, Fate, Mail, MailerDown, Outcome
from limes.redaction import line_of, redact


class _LinkHeader(BaseHeader):
    """A header that is sent in one line: mail programs do not read a link in encoded words (RFC 2047), to which the
    standard library turns what is too long for a line."""

    max_count = 1
    parse = UnstructuredHeader.parse
    value_parser = UnstructuredHeader.value_parser

    def fold(self, *, policy: Policy) -> str:
        """Returns the line."""
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("List-Unsubscribe", _LinkHeader)
_POLICY = policy.SMTP.clone(cte_type="7bit", header_factory=_HEADERS)
_CLOSING = 421
_OUR_FAULT = frozenset({530, 534, 535, 538})
_SESSION = 240.0
"""Seconds after which a connection is cut, however slowly the server answers: before the lease of the job ends."""


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where it is, and how to log in."""

    host: str
    port: int
    security: str
    """`starttls`, `tls` or `none`."""
    username: str | None = None
    password: str | None = None
    cacert: Path | None = None
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class Sender:
    """Who mails come from."""

    address: str
    name: str = "Limes"
    reply_to: str | None = None


@dataclass(frozen=True, slots=True)
class SmtpMailer:
    """A mail server. See `Mailer`."""

    server: SmtpServer
    sender: Sender
    session: float = _SESSION

    @contextmanager
    def open(self) -> Iterator["SmtpSession"]:
        """Connects and logs in."""
        where = f"{self.server.host}:{self.server.port}"
        with _explained(where):
            client = self._connect()
        guard = threading.Timer(self.session, _cut, [client])
        guard.daemon = True
        guard.start()
        try:
            with _explained(where):
                self._greet(client)
            yield SmtpSession(client, self.sender, where)
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

    def _connect(self) -> smtplib.SMTP:
        server = self.server
        if server.security == "tls":
            return smtplib.SMTP_SSL(server.host, server.port, timeout=server.timeout, context=_context(server))
        return smtplib.SMTP(server.host, server.port, timeout=server.timeout)

    def _greet(self, client: smtplib.SMTP) -> None:
        client.ehlo_or_helo_if_needed()
        if self.server.security == "starttls":
            client.starttls(context=_context(self.server))
            client.ehlo_or_helo_if_needed()
        if self.server.username is not None:
            client.login(self.server.username, self.server.password or "")


@dataclass(frozen=True, slots=True)
class SmtpSession:
    """An open connection."""

    client: smtplib.SMTP
    sender: Sender
    where: str

    def try_sender(self) -> None:
        """Raises `MailerDown` if our sender may not send."""
        with _explained(self.where):
            self._begin()
            self.client.rset()

    def send(self, mail: Mail) -> Outcome:
        with _explained(self.where):
            self._begin()
            code, answer = self.client.rcpt(mail.recipient)
            if code not in (250, 251, 252):
                self._reset(code)
                return self._refusal(code, answer)
            code, answer = self.client.data(render_message(mail, self.sender))
            return SENT if 200 <= code < 300 else self._refusal(code, answer)

    def _begin(self) -> None:
        code, answer = self.client.mail(self.sender.address)
        if code != 250:
            self._reset(code)
            raise MailerDown(f"{self.where} does not accept the sender {self.sender.address}: {_said(code, answer)}")

    def _reset(self, code: int) -> None:
        if code != _CLOSING:
            self.client.rset()

    def _refusal(self, code: int, answer: bytes) -> Outcome:
        if code == _CLOSING:
            raise MailerDown(f"{self.where}: {_said(code, answer)}")
        is_for_good = code >= 500 and code not in _OUR_FAULT and not re.match(rb"\s*5\.7\.", answer)
        return Outcome(Fate.NEVER if is_for_good else Fate.LATER, _said(code, answer))


def render_message(mail: Mail, sender: Sender) -> bytes:
    """Returns the mail as it is sent: in ASCII, with text and HTML.

    A header cannot be smuggled in: the subject and all other values are cut to one line, and the policy refuses others.
    """
    user, _, host = sender.address.rpartition("@")
    message = EmailMessage(policy=_POLICY)
    message["From"] = Address(one_line(sender.name), user, host)
    message["To"] = Address("", *mail.recipient.rsplit("@", 1))
    if sender.reply_to:
        message["Reply-To"] = sender.reply_to
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


def one_line(text: str, longest: int = 900) -> str:
    """Returns the text without line breaks and other control characters, which could begin another header."""
    return " ".join("".join(" " if each.isspace() or not each.isprintable() else each for each in text).split())[
        :longest
    ]


def _context(server: SmtpServer) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(server.cacert) if server.cacert else None)


def _cut(client: smtplib.SMTP) -> None:
    sock = client.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(2)


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
