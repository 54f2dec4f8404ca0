"""What people are told, once for each condition, and how that reaches a log and a webhook."""

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from limes.app.composition.mails import notification_jobs
from limes.app.settings import Settings
from limes.audit.sinks import LogSink, Sink, WebhookSink
from limes.catalog.catalog import Catalog
from limes.kernel.outgoing import GuardedSession
from limes.notifications.deliver import DeliverEvents
from limes.notifications.rules import decide
from limes.reports.notify import notify
from tests.api.world import BERLIN, GERMANY, SERVICES, World
from tests.commitments.commitments import BEHAVIORS, NOW, PATHS, commit, offer
from tests.support.http_server import HttpServer
from tests.support.limes import make_limes, make_settings, with_values
from tests.support.statements import statements_of

DAY = 86400
SECRET = "sixteen-characters"


class NoJitter:
    def spread(self, seconds: float) -> float:
        return seconds


def notifier(world: World, *sinks: str, **options: Any) -> Callable[[], int]:
    """The job."""
    catalog = Catalog(["az-one", "az-two"], SERVICES, behaviors=BEHAVIORS)
    values = {f"notifications.{key}": value for key, value in {"sinks": sinks or ("log",), **options}.items()}
    settings = with_values(make_settings(), values)
    return partial(notify, make_limes(world.engine, catalog, settings, clock=world.clock))


def told(world: World) -> list[Any]:
    rows = world.engine.rows("SELECT document FROM audit_outbox WHERE sink = 'notify:log' ORDER BY number")
    return [json.loads(document) for (document,) in rows]


def kinds(world: World) -> list[tuple[str, str | None]]:
    return [(each["kind"], each.get("severity")) for each in told(world)]


@pytest.fixture
def cloud(cloud: World) -> World:
    """Nothing in it is worth an alert."""
    cloud.run("UPDATE project_resources SET usage = 0")
    return cloud


def use(world: World, usage: int) -> None:
    world.run("UPDATE project_resources SET usage = %s WHERE quota = 1024", [usage])


@pytest.mark.sql
def test_quota_is_told_once_for_each_threshold(cloud: World) -> None:
    job = notifier(cloud)
    assert job() == 0
    use(cloud, 900)
    assert (job(), job()) == (1, 0)
    assert told(cloud)[0] == {
        "id": told(cloud)[0]["id"],
        "kind": "quota_used",
        "severity": "warning",
        "at": NOW,
        "remedy": "Ask for more quota before it is used up, or delete what is not needed.",
        "domain": {"id": GERMANY, "name": "germany"},
        "project": {"id": BERLIN, "name": "berlin"},
        "service": "compute",
        "resource": "ram",
        "unit": "MiB",
        "quota": 1024,
        "usage": 900,
        "threshold": 80,
    }
    for usage in (1000, 1025):
        use(cloud, usage)
        assert (job(), job()) == (1, 0)
    assert kinds(cloud) == [("quota_used", "warning"), ("quota_used", "critical"), ("usage_above_quota", "critical")]


def test_hysteresis_at_every_step(cloud: World) -> None:
    """1024 MiB: 75, 80 and 95 % are 768, 819 and 972. Every way from one usage to another, twice."""
    job, known = notifier(cloud), 0
    usages = [700, 768, 769, 819, 820, 972, 973, 1024, 1025]
    for usage in [each for first in usages for second in usages for each in (first, second)]:
        use(cloud, usage)
        level = sum(usage > step for step in (819.2, 972.8, 1024))
        assert job() == (level > known), usage
        known = max(known, level) if usage > 768 else 0


def test_a_run_reads_quotas_and_commitments_once(cloud: World) -> None:
    use(cloud, 900)
    commit(cloud, duration="1 year")
    job = notifier(cloud)
    texts = statements_of(cloud.engine, job)
    for table in ("project_resources", "project_commitments", "temporary_quotas"):
        assert len([text for text in texts if f'FROM "{table}"' in text]) == 1, table


def test_kinds_that_nobody_wants(cloud: World) -> None:
    use(cloud, 900)
    assert notifier(cloud, except_kinds=frozenset({"quota_used"}))() == 0


@pytest.mark.sql
def test_renewals_are_told_wherever_a_batch_ends(cloud: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes the place of others is made of them, too, and may renew itself, but is no renewal. One that was
    renewed may be divided right after it."""
    assert notifier(cloud)() == 0
    ((origin,),) = cloud.engine.rows("SELECT last FROM notification_cursor")
    url = f"{PATHS['berlin']}/commitments"
    divided, first, second, renewed = (commit(cloud, duration="1 year", amount=2) for _ in range(4))
    cloud.run("UPDATE project_commitments SET auto_renews = %s, expires_at = %s", [True, NOW + 20 * DAY])
    merged = {"commitment_ids": [first["id"], second["id"]]}
    assert offer(cloud, divided["id"], 1).status_code == 202
    assert cloud.request("POST", f"{url}/{renewed['id']}/renew").status_code in (200, 201, 202)
    assert offer(cloud, renewed["id"], 1).status_code == 202
    assert cloud.request("POST", f"{url}/merge", json=merged).status_code in (200, 201, 202)
    names = [event["event"] for event in cloud.get("/v1/commitments?since=0")["events"]]
    assert (names.count("superseded"), names.count("created")) == (4, 10)
    for size in range(1, len(names) + 1):
        monkeypatch.setattr("limes.reports.notify._EVENTS", size)
        cloud.run("DELETE FROM audit_outbox")
        cloud.run("UPDATE notification_cursor SET last = %s", [origin])
        counts = [notifier(cloud)() for _ in range(len(names))]
        assert sum(counts) == 1, f"batches of {size}"
        (found,) = told(cloud)
        assert (found["kind"], found["commitment"]["amount"]) == ("commitment_renewed", 2)


def test_capacity_that_becomes_much_less(cloud: World) -> None:
    """Told once for each resource, and again if it happens again."""
    job = notifier(cloud)
    job()
    cloud.run("UPDATE resources SET capacitor_id = (SELECT id FROM capacitors WHERE name = 'inventory')")
    seen = "UPDATE resources SET capacity_drop_seen_at = %s WHERE name = %s"
    cloud.run(seen, [NOW, "cores"])
    assert [job(), job()] == [1, 0]
    cloud.run(seen, [NOW, "ram"])
    assert job() == 1
    first, second = told(cloud)
    assert {**first, "id": "", "remedy": ""} == {
        "id": "",
        "kind": "capacity_drop",
        "severity": "warning",
        "at": NOW,
        "remedy": "",
        "service": "compute",
        "resource": "cores",
        "capacitor": "inventory",
        "since": NOW,
    }
    assert second["resource"] == "ram"
    cloud.run("UPDATE resources SET capacity_drop_seen_at = NULL")
    assert job() == 0
    cloud.run(seen, [NOW, "cores"])
    assert job() == 1


@pytest.mark.sql
def test_two_that_decide_at_once_tell_once(cloud: World) -> None:
    notifier(cloud)()
    use(cloud, 900)
    with ThreadPoolExecutor(4) as pool:
        counts = pool.map(lambda _: notifier(cloud)(), range(4))
    assert sorted(counts) == [0, 0, 0, 1]
    assert len(told(cloud)) == 1


def test_decisions() -> None:
    key = ("quota_used", "p")
    assert decide({}, {key: 1}, {key: 1}).told == {key: 1}
    assert decide({key: 2}, {key: 1}, {key: 2}) == ({}, [])
    assert decide({key: 1}, {}, {key: 1}) == ({}, [])
    assert decide({key: 1}, {}, {}) == ({}, [key])


# -- delivery ----------------------------------------------------------------------------------------------------------


@dataclass
class Receiver:
    """A real HTTP server that answers what it is told to."""

    url: str = ""
    status: int = 204
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    answers: threading.Event = field(default_factory=threading.Event)
    """Cleared while it hangs."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    found.answers.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.got.append((dict(self.headers), body))
            found.answers.wait(60)
            self.send_response(found.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = HttpServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield found
    found.answers.set()
    server.shutdown()
    thread.join()
    server.server_close()


def deliver(world: World, sink: Sink) -> tuple[int, int, bool]:
    """How many were delivered and refused, and whether the receiver failed."""
    limes = structs.replace(world.limes, jitter=NoJitter())
    job = DeliverEvents(limes, sink, limes.settings.notifications, what="notification", job=sink.name)
    outcome = job.run_if_due()
    assert outcome is not None
    world.clock.advance(60)
    return outcome.delivered, outcome.refused, outcome.failed


def post(world: World, url: str, timeout: float = 60) -> tuple[int, int, bool]:
    """Delivers to a webhook."""
    return deliver(world, WebhookSink(url, SECRET, GuardedSession(), world.clock, timeout, "notify:webhook"))


def test_a_webhook_that_fails_and_comes_back(cloud: World, receiver: Receiver) -> None:
    job = notifier(cloud, "webhook")
    for usage in (900, 1000):
        use(cloud, usage)
        job()
    receiver.status = 503
    assert (post(cloud, receiver.url), len(receiver.got)) == ((0, 0, True), 1)
    receiver.status = 204
    assert post(cloud, receiver.url) == (2, 0, False)
    first, again, second = receiver.got
    assert first[1] == again[1]
    assert first[0]["Limes-Message-Id"] == again[0]["Limes-Message-Id"] == json.loads(again[1])["id"]
    assert [json.loads(body)["severity"] for _, body in (again, second)] == ["warning", "critical"]
    for headers, body in receiver.got:
        expected = hmac.new(SECRET.encode(), headers["Limes-Timestamp"].encode() + b"." + body, hashlib.sha256)
        assert headers["Limes-Signature"] == f"sha256={expected.hexdigest()}"
    assert re.fullmatch(r"\d+", first[0]["Limes-Timestamp"])


def test_what_a_webhook_refuses_holds_up_only_its_project(cloud: World, receiver: Receiver) -> None:
    job = notifier(cloud, "webhook")
    for usage in (900, 1000):
        use(cloud, usage)
        job()
    cloud.run("UPDATE project_resources SET usage = 31 WHERE quota = 30")
    assert job() == 1
    receiver.status = 422
    assert post(cloud, receiver.url) == (0, 2, False)
    assert [json.loads(body)["project"]["name"] for _, body in receiver.got] == ["berlin", "dresden"]
    receiver.status = 204
    assert post(cloud, receiver.url) == (3, 0, False)


def test_a_webhook_that_hangs(cloud: World, receiver: Receiver) -> None:
    use(cloud, 900)
    notifier(cloud, "webhook")()
    receiver.answers.clear()
    assert post(cloud, receiver.url, timeout=0.2) == (0, 0, True)
    receiver.answers.set()
    assert post(cloud, receiver.url) == (1, 0, False)
    assert len({headers["Limes-Message-Id"] for headers, _ in receiver.got}) == 1


def test_a_webhook_that_nobody_answers(cloud: World) -> None:
    use(cloud, 900)
    notifier(cloud, "webhook")()
    assert post(cloud, "http://127.0.0.1:9/hook") == (0, 0, True)


def test_the_log(cloud: World, tmp_path: Path) -> None:
    use(cloud, 900)
    notifier(cloud)()
    assert deliver(cloud, LogSink(tmp_path / "log", "notify:log")) == (1, 0, False)
    assert [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()] == told(cloud)


def test_the_configured_jobs(cloud: World, receiver: Receiver, tmp_path: Path) -> None:
    section = {
        "sinks": ["log", "webhook"],
        "log": {"path": str(tmp_path / "log")},
        "webhook": {"url": receiver.url, "secret": SECRET},
    }
    settings = Settings.model_validate(
        {"availability_zones": ["az-one"], "services": [{"service_type": "x", "type": "x"}], "notifications": section}
    )
    catalog = Catalog(["az-one", "az-two"], SERVICES, behaviors=BEHAVIORS)
    limes = make_limes(cloud.engine, catalog, settings, clock=cloud.clock, jitter=NoJitter())
    jobs, _ = notification_jobs(limes)
    assert [job.name for job in jobs] == ["notifications", "notify:log", "notify:webhook"]
    use(cloud, 900)
    assert [job.step() for job in jobs] == [True, True, True]
    assert [job.step() for job in jobs] == [False, False, False], "none is due again"
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert [json.loads(line)["kind"], json.loads(receiver.got[0][1])["kind"]] == ["quota_used", "quota_used"]
