"""A real SMTP server on this machine, which refuses, fails and hangs as it is told."""

import asyncio
import ssl
import threading
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.support.processes import free_port
from tests.support.rabbitmq import make_certificate

USER, PASSWORD = "limes", "smtp-pass-phrase"


@dataclass
class MailServer:
    """What it has got, and what it answers."""

    received: list[tuple[str, EmailMessage]] = field(default_factory=list)
    """Recipient and message of each mail that it has seen to the end, whether or not it took it."""
    recipients: dict[str, str] = field(default_factory=dict)
    """What it answers to a recipient, such as `550 no such user`."""
    data: str = "250 OK"
    """What it answers to a mail."""
    answers: threading.Event = field(default_factory=threading.Event)
    """Cleared while it hangs after it has got a mail."""
    port: int = 0
    certificate: Path | None = None
    _controller: Controller | None = None

    def start(self, folder: Path | None = None, *, tls: str = "none", login: bool = False) -> "MailServer":
        """Starts it; `tls` is `none`, `starttls` or `tls`, and `login` asks for `USER` and `PASSWORD`."""
        self.answers.set()
        self.port = self.port or free_port()
        options: dict[str, Any] = {}
        if tls != "none":
            assert folder is not None
            self.certificate = self.certificate or folder / "smtp.pem"
            if not self.certificate.exists():
                make_certificate(folder, self.certificate)
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(self.certificate, folder / "key.pem")
            if tls == "tls":
                options["ssl_context"] = context
            else:
                options |= {"tls_context": context, "require_starttls": True}
        if login:
            options |= {"authenticator": _authenticate, "auth_required": True, "auth_require_tls": tls != "tls"}
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port, ready_timeout=60, **options)
        self._controller.start()
        return self

    def stop(self) -> None:
        """Stops it, so that nothing listens on its port."""
        self.answers.set()
        if self._controller is not None:
            self._controller.stop()
            self._controller = None

    def ids(self) -> list[str]:
        """The Message-ID of each mail, in the order of their arrival."""
        return [str(message["Message-ID"]) for _, message in self.received]

    # -- what aiosmtpd calls -------------------------------------------------------------------------------------------

    async def handle_RCPT(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        """Answers to a recipient."""
        answer = self.recipients.get(address, "250 OK")
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Takes a mail."""
        content = envelope.content
        assert isinstance(content, bytes)
        message = message_from_bytes(content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.received.append((envelope.rcpt_tos[0], message))
        while not self.answers.is_set():
            await asyncio.sleep(0.02)
        return self.data


def _authenticate(server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: Any) -> AuthResult:
    is_right = isinstance(given, LoginPassword) and given == LoginPassword(USER.encode(), PASSWORD.encode())
    return AuthResult(success=is_right, handled=False)


def text_of(message: EmailMessage) -> str:
    """The plain text of a mail."""
    part = message.get_body(("plain",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


def html_of(message: EmailMessage) -> str:
    """The HTML of a mail."""
    part = message.get_body(("html",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")
