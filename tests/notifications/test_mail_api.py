"""Mails to the HTTP service of the original Limes, on a real server, with our token."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from limes.kernel.outgoing import TimedAdapter
from limes.notifications.mail.mailer import DeliveryStatus, Mail, MailerDown
from limes.notifications.mail.servers import MailApi
from tests.support.http_server import HttpServer
from tests.support.processes import free_port

MAIL = Mail("the-id", "project-uuid", "Subject", "text\n", "<p>html</p>", 0.0)


class Service:
    """What it got, and what it answers."""

    def __init__(self) -> None:
        self.status = 200
        self.got: list[tuple[str, dict[str, str], Any]] = []


@pytest.fixture
def service() -> Iterator[tuple[Service, MailApi]]:
    found = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.got.append((self.path, dict(self.headers), json.loads(body)))
            self.send_response(found.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = HttpServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield found, mail_api(server.server_port)
    server.shutdown()
    thread.join()
    server.server_close()


def mail_api(port: int) -> MailApi:
    endpoint = f"http://127.0.0.1:{port}/mail"
    adapter: Adapter = TimedAdapter(Session(Token(None, "our-token")), 20, endpoint_override=endpoint)
    return MailApi(adapter)


def test_a_mail(service: tuple[Service, MailApi]) -> None:
    found, api = service
    with api.open() as session:
        assert session.send(MAIL).fate is DeliveryStatus.SENT
    ((path, headers, document),) = found.got
    assert path == "/mail/v1/send-email?from=limes"
    assert headers["X-Auth-Token"] == "our-token"
    assert headers["Limes-Message-Id"] == "the-id"
    assert document == {
        "project_id": "project-uuid",
        "subject": "Subject",
        "mime_type": "text/html",
        "mail_text": "<p>html</p>",
    }


@pytest.mark.parametrize(
    ("status", "fate"), [(418, DeliveryStatus.NEVER), (400, DeliveryStatus.LATER), (422, DeliveryStatus.LATER)]
)
def test_a_refusal(service: tuple[Service, MailApi], status: int, fate: DeliveryStatus) -> None:
    found, api = service
    found.status = status
    outcome = api.send(MAIL)
    assert (outcome.fate, f"HTTP {status}" in outcome.reason) == (fate, True)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_a_service_that_fails(service: tuple[Service, MailApi], status: int) -> None:
    found, api = service
    found.status = status
    with pytest.raises(MailerDown, match=f"HTTP {status}"):
        api.send(MAIL)


def test_nobody_answers() -> None:
    api = mail_api(free_port())
    error = api.try_out()
    assert error is not None
    assert "our-token" not in error
    with pytest.raises(MailerDown):
        api.send(MAIL)
