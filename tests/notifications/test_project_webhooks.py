"""A project's own webhook: who sets it, what it gets, and where its requests go to whatever name servers say."""

import hashlib
import hmac
import json
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from limes.app.composition.mails import notification_jobs
from limes.audit import outbox as audit_outbox
from limes.kernel.system import SystemIds
from limes.notifications import outbox
from limes.notifications.deliver import DeliverEvents, DeliveryResult
from limes.notifications.mail.templates import sample
from limes.notifications.project_posts import ProjectPosts
from limes.notifications.targets import ProjectWebhookSettings, Resolver
from limes.reports.notify import notify
from limes.requests.lists import closed_without_decision
from tests.api.world import BERLIN, DRESDEN, GERMANY, World
from tests.notifications.test_notifications import NoJitter
from tests.requests.quota_requests import act, asked
from tests.setup.needs import OPENSSL
from tests.support.machine import require
from tests.support.rows import all_rows, changes
from tests.support.web_server import Answer, Request, WebServer, redirect, web_server

PATHS = {
    name: f"/v1/domains/{GERMANY}/projects/{uuid}/webhook" for name, uuid in (("berlin", BERLIN), ("dresden", DRESDEN))
}
PATH = PATHS["berlin"]
HOST = "chat.example.com"


class Names(Resolver):
    """Name servers that say what a test wants, and something else the next time if there is more than one answer."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@dataclass
class Cloud:
    """The API, and the collector's job."""

    world: World
    names: Names
    server: WebServer
    sent: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server.url.rpartition(':')[2]}/hooks/T0P-SECRET-PATH"

    def put(self, url: str | None = None, project: str = "berlin", token: str = "berlin-admin") -> Any:
        return self.world.request("PUT", PATHS[project], token, json={"webhook": {"url": url or self.url}})

    def show(self) -> Any:
        return self.world.get(PATH, "berlin-admin")["webhook"]

    def tell(self, number: int = 1, project: str = BERLIN, **changed: Any) -> None:
        limes, now = self.world.limes, self.world.clock.now().timestamp()
        place = {"domain": {"id": GERMANY, "name": "germany"}, "project": {"id": project, "name": "x"}}
        new = [
            {**sample("quota_used"), **place, "id": SystemIds().uuid(), "at": int(now), **changed}
            for _ in range(number)
        ]
        messages = [(project, document) for document in new]
        limes.engine.atomic(lambda: outbox.queue_notifications(limes, now, messages))

    def deliver(self, seconds: float = 15, names: Resolver | None = None, **options: Any) -> DeliveryResult:
        self.world.clock.advance(seconds)
        section = self.world.limes.settings.notifications
        webhooks = section.project_webhooks.model_copy(update=options)
        section = section.model_copy(update={"project_webhooks": webhooks})
        settings = self.world.limes.settings.model_copy(update={"notifications": section})
        limes = structs.replace(self.world.limes, jitter=NoJitter(), settings=settings)
        posts = outbox.BoundPosts(
            limes, ProjectPosts(limes, names or self.names), closed_without_decision, by_project=True
        )
        outcome = DeliverEvents(limes, posts, section, what="notification", job=posts.name).run_if_due()
        assert outcome is not None
        return outcome

    def pending(self) -> int:
        return int(self.world.engine.rows("SELECT COUNT(*) FROM audit_outbox WHERE delivered_at IS NULL")[0][0])


@pytest.fixture
def server() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.fixture
def cloud(make: Callable[..., World], server: WebServer) -> Cloud:
    section = ProjectWebhookSettings(allowed_hosts=(HOST,), allowed_networks=("127.0.0.0/8",))
    names = Names(["127.0.0.1"])
    return Cloud(make(webhooks=section, resolver=names), names, server)


# -- who sets it -------------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_the_secret_is_shown_once(cloud: Cloud) -> None:
    assert cloud.show() is None
    answer = cloud.put()
    assert answer.status_code == 200
    shown = dict(answer.json["webhook"])
    secret = shown.pop("secret")
    now = int(cloud.world.clock.now().timestamp())
    assert shown == {"url": cloud.url, "set_by": {"type": "user", "id": "u6", "name": ""}, "set_at": now}
    assert cloud.show() == shown
    assert cloud.put().json["webhook"]["secret"] != secret, "each time a new one"
    assert cloud.world.request("DELETE", PATH, "berlin-admin").status_code == 204
    assert cloud.show() is None
    answer = cloud.world.request("DELETE", PATH, "berlin-admin")
    assert (answer.status_code, answer.text) == (404, "this project has no webhook\n")


def test_the_change_log_says_it_and_keeps_secrets(cloud: Cloud) -> None:
    secrets = [cloud.put().json["webhook"]["secret"] for _ in range(2)]
    cloud.world.request("DELETE", PATH, "berlin-admin")
    path = f"/v1/domains/{GERMANY}/projects/{BERLIN}"
    changes = cloud.world.get(f"{path}/changes?kind=webhook", "berlin-admin")["changes"]
    assert [(each["sentence"], each["old"], each["new"]) for each in changes] == [
        ("u6 removed the webhook of project germany/berlin.", True, False),
        ("u6 changed the webhook of project germany/berlin to chat.example.com.", True, True),
        ("u6 set the webhook of project germany/berlin to chat.example.com.", False, True),
    ]
    text = cloud.world.request("GET", f"{path}/changes", "berlin-admin").text
    assert not any(secret in text for secret in (*secrets, "T0P-SECRET-PATH"))
    assert cloud.world.get(f"{path}/history", "berlin-admin")["history"] == [], "it is no quota"


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://evil.example/", "evil.example is not among the hosts that are allowed: chat.example.com\n"),
        ("https://a:b@chat.example.com/", "expected a URL such as"),
    ],
)
def test_what_is_refused(cloud: Cloud, url: str, text: str) -> None:
    before = all_rows(cloud.world.engine)
    answer = cloud.put(url)
    assert (answer.status_code, answer.text[: len(text)]) == (422, text)
    assert changes(before, all_rows(cloud.world.engine)) == {}


def test_an_address_is_looked_at_before_anything_is_set(cloud: Cloud) -> None:
    cloud.names.answers = [["127.0.0.1", "10.0.0.1"]]
    assert "not public" in cloud.put().text
    cloud.names.answers = [["93.184.216.34"]]
    assert "needs https" in cloud.put().text
    assert cloud.show() is None


def test_where_operators_allow_none(world: World) -> None:
    for method in ("GET", "PUT", "DELETE"):
        answer = world.request(method, PATH, "berlin-admin", json={"webhook": {"url": "https://chat.example.com/"}})
        expected = "projects of this Limes have no webhooks: its operators have allowed no hosts for them\n"
        assert (answer.status_code, answer.text) == (404, expected)


# -- what it gets ------------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_a_signed_notification(cloud: Cloud) -> None:
    secret = cloud.put().json["webhook"]["secret"]
    cloud.tell()
    cloud.tell(project=DRESDEN)
    assert cloud.deliver() == DeliveryResult(1, 0, False)
    (request,) = cloud.server.requests
    timestamp, headers = request.headers["Limes-Timestamp"], request.headers
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + request.body, hashlib.sha256).hexdigest()
    assert headers["Limes-Signature"] == f"sha256={digest}"
    assert headers["Host"].startswith(HOST)
    assert json.loads(request.body)["project"]["id"] == BERLIN
    assert headers["Limes-Message-Id"] == json.loads(request.body)["id"]
    assert cloud.show()["delivered_at"] == int(cloud.world.clock.now().timestamp())
    assert cloud.pending() == 0, "nobody else has a webhook"


def test_without_other_sinks_projects_are_told(cloud: Cloud) -> None:
    limes = cloud.world.limes
    assert limes.settings.notifications.sinks == ()
    jobs, _ = notification_jobs(limes)
    assert [job.name for job in jobs] == ["notifications", "notify:projects"]
    cloud.put()
    id_ = asked(cloud.world, "berlin", compute={"cores": 40})
    act(cloud.world, "berlin", id_, "reject", "germany-admin", reason="no")
    cloud.deliver()
    assert [json.loads(each.body)["kind"] for each in cloud.server.requests] == ["request_opened", "request_decided"]
    cloud.deliver(86400)
    cloud.world.run("UPDATE project_resources SET usage = 900 WHERE quota = 1024")
    notify(limes)
    cloud.deliver()
    (used,) = [json.loads(each.body) for each in cloud.server.requests[2:]]
    assert (used["kind"], used["project"]["id"]) == ("quota_used", BERLIN)


def test_many_are_sent_together_and_never_with_those_of_others(cloud: Cloud) -> None:
    cloud.put()
    cloud.put(project="dresden", token="germany-admin")
    cloud.tell(40)
    cloud.tell(2, DRESDEN)
    cloud.deliver()
    several, *single = sorted(
        (json.loads(each.body) for each in cloud.server.requests), key=lambda each: each["kind"] != "several"
    )
    assert {each["project"]["id"] for each in several["notifications"]} == {BERLIN}
    assert (several["count"], [each["project"]["id"] for each in single]) == (40, [DRESDEN, DRESDEN])


def test_what_a_receiver_does_not_take_waits_and_is_given_up(cloud: Cloud) -> None:
    cloud.put()
    cloud.server.answer = lambda _: Answer(500)
    cloud.tell(2)
    assert cloud.deliver() == DeliveryResult(0, 1, False)
    shown = cloud.show()
    assert (shown["error"], shown["failed_at"]) == ("HTTP 500", int(cloud.world.clock.now().timestamp()))
    assert len(cloud.server.requests) == 1, "the second waits behind the first"
    cloud.server.answer = lambda _: Answer()
    assert cloud.deliver(30) == DeliveryResult(2, 0, False)
    assert "error" not in cloud.show()
    cloud.server.answer = lambda _: Answer(404)
    cloud.tell()
    cloud.deliver(86400 + 600)
    assert cloud.pending() == 0


def test_what_was_removed_gets_nothing_more(cloud: Cloud) -> None:
    cloud.put()
    cloud.tell()
    cloud.world.request("DELETE", PATH, "berlin-admin")
    assert cloud.deliver() == DeliveryResult(1, 0, False)
    assert (cloud.server.requests, cloud.pending()) == ([], 0)


def test_a_slow_receiver_delays_nobody(cloud: Cloud) -> None:
    goes_on = threading.Event()

    def answer(request: Request) -> Answer:
        if json.loads(request.body)["project"]["id"] == BERLIN:
            goes_on.wait(60)
        return Answer()

    cloud.server.answer = answer
    cloud.put()
    cloud.put(project="dresden", token="germany-admin")
    cloud.tell(20)
    cloud.tell(3, DRESDEN)
    assert cloud.deliver(timeout=0.5) == DeliveryResult(3, 1, False)
    goes_on.set()
    assert cloud.show()["error"] == "no answer in time"


def test_a_name_server_that_hangs_delays_nobody(cloud: Cloud) -> None:
    hang, asked = threading.Event(), []

    class Hanging(Resolver):
        def __call__(self, host: str, port: int) -> Sequence[str]:
            asked.append(host)
            if len(asked) == 1:
                hang.wait(60)
            return ["127.0.0.1"]

    cloud.put()
    cloud.put(project="dresden", token="germany-admin")
    cloud.tell()
    cloud.tell(1, DRESDEN)
    began = time.monotonic()
    outcome = cloud.deliver(names=Hanging(), timeout=0.2)
    assert time.monotonic() - began < 50
    hang.set()
    assert (outcome.delivered, outcome.refused) == (1, 1)


# -- where requests go to ----------------------------------------------------------------------------------------------


def test_a_name_that_changes_between_check_and_use(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is asked for once, and never again by the connection: this machine's resolver would not know it."""
    cloud.put()
    cloud.tell()
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    names = Names(["127.0.0.1"], ["10.0.0.1"])
    assert cloud.deliver(names=names) == DeliveryResult(1, 0, False)
    assert (names.asked, len(cloud.server.requests)) == (1, 1)
    cloud.tell()
    assert cloud.deliver(names=names) == DeliveryResult(0, 1, False), "it points inside by now"
    assert (cloud.show()["error"], len(cloud.server.requests)) == (
        "chat.example.com has an address that is not public, and that is not allowed here", 1,
    )  # fmt: skip


def test_no_redirect_is_followed(cloud: Cloud) -> None:
    with web_server() as other:
        for target in (other.url, cloud.server.url):
            cloud.server.answer = redirect(307, target)
            cloud.put()
            cloud.tell()
            cloud.deliver(3600)
            assert cloud.show()["error"] == "its answer is a redirect, or too long, or takes too long"
        assert other.requests == []


def test_an_answer_without_end(cloud: Cloud) -> None:
    cloud.server.answer = lambda _: Answer(200, (b"x" * 65536 for _ in range(1000)))
    cloud.put()
    cloud.tell()
    cloud.deliver()
    assert cloud.show()["error"] == "its answer is a redirect, or too long, or takes too long"


def test_a_host_that_is_no_longer_allowed(cloud: Cloud) -> None:
    cloud.put()
    cloud.tell()
    cloud.deliver(allowed_hosts=("other.example.com",))
    assert cloud.show()["error"] == "chat.example.com is not among the hosts that are allowed: other.example.com"
    assert cloud.server.requests == []


def test_nobody_listens(cloud: Cloud) -> None:
    cloud.put(f"http://{HOST}:9/")
    cloud.tell()
    cloud.deliver()
    assert cloud.show()["error"] == "no connection"


@pytest.mark.parametrize(
    ("name", "error"),
    [(HOST, None), ("other.example.com", "its certificate is not accepted, or it does not speak TLS")],
)
def test_tls_is_with_the_name_of_the_host(cloud: Cloud, tmp_path: Path, name: str, error: str | None) -> None:
    openssl = require(OPENSSL)
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-days", "2"]
    keys = ["-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    subprocess.run([openssl, "req", "-x509", *keys, *subject], capture_output=True, check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with web_server(tls=context) as server:
        cloud.put(f"https://{HOST}:{server.url.rpartition(':')[2]}/")
        cloud.tell()
        cloud.deliver(cacert=certificate)
        assert cloud.show().get("error") == error
        assert len(server.requests) == (error is None)


def test_what_waits_is_bound_by_the_outbox(cloud: Cloud) -> None:
    """The rows of this sink are those of no other."""
    cloud.put()
    cloud.tell(2)
    rows = cloud.world.engine.rows("SELECT sink, stream FROM audit_outbox")
    assert [tuple(row) for row in rows] == 2 * [("notify:projects", BERLIN)]
    assert audit_outbox.due(cloud.world.engine, "notify:webhook", 2**40, 2**41, 10) == []
