"""Mails to a real SMTP server: encryption, login, refusals for now and for good, and servers that hang or are gone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from limes.kernel.redaction import forget, know
from limes.notifications.mail.mailer import DeliveryStatus, Mail, MailerDown
from limes.notifications.mail.servers import SmtpMailer, render_message
from limes.notifications.settings import SmtpSettings
from tests.support.mail_server import PASSWORD, USER, MailServer, html_of, text_of
from tests.support.processes import free_port

MAIL = Mail(
    "5a1f9c0e-3d2b-4c6a-8e7f-1b2a3c4d5e6f",
    "somebody@example.com",
    "Über 80 %",
    "Grüße\n",
    "<p>Grüße</p>",
    1_798_761_600.0,
    "de",
    {"List-Unsubscribe": "<https://limes.example.com/u?token=x>", "Limes-Kind": "quota_used"},
)
SENDER = {"sender": "limes@cloud.example.com", "sender_name": "Limes, Köln", "reply_to": "help@example.com"}
SMTP = SmtpSettings(**SENDER)


@pytest.fixture
def server() -> Iterator[MailServer]:
    server = MailServer()
    yield server
    server.stop()


def mailer(server: MailServer, security: str = "none", **options: Any) -> SmtpMailer:
    options = {"timeout": 30.0, "cacert": server.certificate, **options}
    return SmtpMailer(SmtpSettings(host="127.0.0.1", port=server.port, security=security, **SENDER, **options))


def send(mailer: SmtpMailer, *mails: Mail) -> list[DeliveryStatus]:
    with mailer.open() as session:
        return [session.send(mail).fate for mail in mails]


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
def test_a_mail(server: MailServer, security: str, tmp_path: Path) -> None:
    login = {} if security == "none" else {"username": USER, "password": PASSWORD}
    server.start(tmp_path, tls=security, login=bool(login))
    client = mailer(server, security, **login)
    assert client.try_out() is None
    assert send(client, MAIL, structs.replace(MAIL, recipient="other@example.com")) == [
        DeliveryStatus.SENT,
        DeliveryStatus.SENT,
    ]
    (recipient, message), (other, _) = server.received
    assert (recipient, other) == ("somebody@example.com", "other@example.com")
    assert message["To"] == "somebody@example.com"
    assert message["From"] == '"Limes, Köln" <limes@cloud.example.com>'
    assert message["Reply-To"] == "help@example.com"
    assert message["Subject"] == "Über 80 %"
    assert message["Message-ID"] == f"<{MAIL.id}@cloud.example.com>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["List-Unsubscribe"] == "<https://limes.example.com/u?token=x>"
    assert (text_of(message), html_of(message)) == ("Grüße\n", "<p>Grüße</p>\n")


def test_mail_programs_can_read_the_link_to_unsubscribe() -> None:
    """It is longer than a line should be, and stands in one line all the same (RFC 8058)."""
    link = f"<https://limes.example.com/v1/unsubscribe?token={'a' * 300}>"
    one_click = {"List-Unsubscribe": link, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    lines = render_message(structs.replace(MAIL, headers=one_click), SMTP).split(b"\r\n")
    assert f"List-Unsubscribe: {link}".encode() in lines
    assert b"List-Unsubscribe-Post: List-Unsubscribe=One-Click" in lines


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_certificate_that_nobody_knows(server: MailServer, security: str, tmp_path: Path) -> None:
    server.start(tmp_path, tls=security)
    error = mailer(server, security, cacert=None).try_out()
    assert error is not None
    assert "certificate verify failed" in error


def test_a_server_without_encryption_gets_no_password(server: MailServer) -> None:
    server.start()
    error = mailer(server, "starttls", username=USER, password=PASSWORD).try_out()
    assert error is not None
    assert "STARTTLS" in error
    assert server.received == []


def test_a_wrong_password_is_not_shown(server: MailServer, tmp_path: Path) -> None:
    know(["wrong-pass-phrase"])
    try:
        server.start(tmp_path, tls="tls", login=True)
        error = mailer(server, "tls", username=USER, password="wrong-pass-phrase").try_out()
    finally:
        forget()
    assert error is not None
    assert "535" in error
    assert "wrong-pass-phrase" not in error


@pytest.mark.parametrize(
    ("answer", "fate"),
    [
        ("550 5.1.1 no such user", DeliveryStatus.NEVER),
        ("552 mailbox full", DeliveryStatus.NEVER),
        ("450 4.2.0 greylisted", DeliveryStatus.LATER),
        ("452 mailbox full", DeliveryStatus.LATER),
        ("550 5.7.1 relaying denied", DeliveryStatus.LATER),
        ("530 5.7.0 authentication required", DeliveryStatus.LATER),
    ],
)
def test_a_recipient_that_is_refused_stops_no_other(server: MailServer, answer: str, fate: DeliveryStatus) -> None:
    server.start()
    server.recipients["somebody@example.com"] = answer
    assert send(mailer(server), MAIL, structs.replace(MAIL, recipient="other@example.com")) == [
        fate,
        DeliveryStatus.SENT,
    ]
    assert [recipient for recipient, _ in server.received] == ["other@example.com"]


@pytest.mark.parametrize(
    ("answer", "fate"), [("554 this is spam", DeliveryStatus.NEVER), ("451 out of disk space", DeliveryStatus.LATER)]
)
def test_a_mail_that_is_refused(server: MailServer, answer: str, fate: DeliveryStatus) -> None:
    server.start().data = answer
    assert send(mailer(server), MAIL) == [fate]


def test_a_server_that_is_closing(server: MailServer) -> None:
    server.start().data = "421 shutting down"
    with pytest.raises(MailerDown, match="421 shutting down"):
        send(mailer(server), MAIL)


def test_a_server_that_hangs(server: MailServer) -> None:
    server.start().answers.clear()
    with pytest.raises(MailerDown, match="timed out"):
        send(mailer(server, timeout=0.3), MAIL)
    assert len(server.received) == 1


def test_a_session_is_cut_in_the_end(server: MailServer) -> None:
    server.start().answers.clear()
    with pytest.raises(MailerDown):
        send(structs.replace(mailer(server, timeout=300), session=0.3), MAIL)


def test_nobody_listens() -> None:
    error = SmtpMailer(SmtpSettings(host="127.0.0.1", port=free_port(), security="none", **SENDER)).try_out()
    assert error is not None
    assert "refused" in error


def test_no_header_can_be_smuggled_in() -> None:
    nasty = "x\r\nBcc: all@example.com\n\nbody\x00\u2028y"
    sender = SMTP.model_copy(update={"sender_name": nasty})
    content = render_message(structs.replace(MAIL, subject=nasty, headers={"Limes-Kind": nasty}), sender)
    head = content.decode("ascii").partition("\r\n\r\n")[0]
    names = [line.partition(":")[0] for line in head.split("\r\n") if not line.startswith((" ", "\t"))]
    assert "Bcc" not in names
    assert names.count("Subject") == 1


def test_a_repetition_is_the_same() -> None:
    assert render_message(MAIL, SMTP) == render_message(MAIL, SMTP)
