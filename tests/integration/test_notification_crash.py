"""Collectors are killed while they deliver to a receiver and a mail server that fail, hang, and come back.

Nothing is lost. What arrives twice has the same message id and contents, so that receivers can drop it.
"""

import json
import signal
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.audit import outbox
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.system import SystemIds
from limes.notifications.mail.templates import sample
from tests.notifications.test_notifications import Receiver, receiver
from tests.support.databases import UrlFactory
from tests.support.limes_process import limes_server
from tests.support.mail_server import MailServer, text_of
from tests.support.processes import ServerProcess, eventually, free_port

pytestmark = pytest.mark.long
__all__ = ["receiver"]

SINKS = ("webhook", "smtp")
PEOPLE = ("alice@example.com", "bob@example.com")
BATCH = 15
DOMAIN = {"id": "d", "name": "d", "projects": [{"id": "p", "name": "p", "parent_id": "d"}]}


def configuration(url: str, receiver: Receiver, server: MailServer) -> dict[str, Any]:
    """Quick to try again, so that hours of an operator's life pass in seconds."""
    return {
        "availability_zones": ["az-one"],
        "database": {"url": url},
        "discovery": {"method": "static", "params": {"domains": [DOMAIN]}},
        "services": [
            {"service_type": "s", "type": "static", "params": {"area": "s", "resources": {"capacity": {"usage": 1}}}}
        ],
        "collector": {"poll_interval": 0.1, "lease": 3},
        "identity": {"method": "sample", "sample": {}},
        "notifications": {
            "sinks": [*SINKS],
            "retry": 0.2,
            "retry_max": 0.5,
            "webhook": {"url": receiver.url, "secret": "sixteen-characters", "timeout": 1, "at_most_per_minute": 1000},
            "smtp": {
                "host": "127.0.0.1",
                "port": server.port,
                "security": "none",
                "sender": "limes@example.com",
                "timeout": 1,
            },
            "mail": {
                "recipients": [{"addresses": [*PEOPLE], "kinds": ["request_opened"]}],
                "digest": 0,
                "gather": 0,
                "urgent": [],
            },
        },
    }


class Cloud:
    """A database, what is told, and the collectors that deliver it."""

    def __init__(self, folder: Path, url: str, receiver: Receiver, server: MailServer) -> None:
        self.folder = folder
        limes_migrations.upgrade(Engine(url))
        self.engine = Engine(url)
        self.receiver = receiver
        self.server = server
        self.told: list[str] = []
        self.collectors: list[ServerProcess] = []
        self._started = 0
        (folder / "limes.yaml").write_text(yaml.safe_dump(configuration(url, receiver, server)))

    def add_collector(self) -> None:
        """Starts one more."""
        self._started += 1
        address = f"127.0.0.1:{free_port()}"
        log = self.folder / f"collector-{self._started}.log"
        env = {
            "LIMES_CONFIG": str(self.folder / "limes.yaml"), "LIMES_COLLECTOR_METRICS_LISTEN_ADDRESS": address
        }  # fmt: skip
        process = limes_server("collect", listen=address, log=log, **env)
        self.collectors.append(process.start())

    def kill(self) -> None:
        """Kills one collector with SIGKILL, and starts another."""
        victim = self.collectors.pop(0)
        victim.signal(signal.SIGKILL)
        victim.stop()
        self.add_collector()

    def tell(self, number: int) -> None:
        """Writes notifications into the outbox, as the API does, each in a transaction of its own."""
        for _ in range(number):
            id_ = SystemIds().uuid()
            document = sample("request_opened") | {"id": id_}
            document["request"] = {**document["request"], "reason": f"marker {id_}"}
            stream = f"project-{len(self.told) % 4}"
            text = json.dumps({**document, "order": len(self.told)})
            rows = [(1.0, f"notify:{sink}", stream, id_, text) for sink in SINKS]
            self.engine.atomic(lambda rows=rows: outbox.append(self.engine, rows))
            self.told.append(id_)

    def count(self) -> int:
        """How much has arrived, with repetitions."""
        return len(self.receiver.got) + len(self.server.received)

    def is_all_delivered(self) -> bool:
        """Whether nothing is pending."""
        pending = (
            "audit_outbox WHERE delivered_at IS NULL",
            "mail_items WHERE mail_id IS NULL",
            "mails WHERE done_at IS NULL",
        )
        return all(self.engine.rows(f"SELECT COUNT(*) FROM {each}") == [(0,)] for each in pending)


@pytest.fixture
def cloud(postgres_url_factory: UrlFactory, tmp_path: Path, receiver: Receiver) -> Iterator[Cloud]:
    server = MailServer().start()
    cloud = Cloud(tmp_path, postgres_url_factory(), receiver, server)
    yield cloud
    for collector in cloud.collectors:
        collector.stop()
    server.stop()
    cloud.engine.close()


def test_nothing_is_lost_when_collectors_are_killed(cloud: Cloud) -> None:
    receiver, server = cloud.receiver, cloud.server
    for _ in range(2):
        cloud.add_collector()

    # they work
    cloud.tell(BATCH)
    eventually("deliveries have begun", lambda: cloud.count() > 5)
    cloud.kill()

    # they hang after they have got something, and the collectors are killed before they hear of it
    for _ in range(2):
        receiver.answers.clear()
        server.answers.clear()
        cloud.tell(BATCH)
        before = len(receiver.got), len(server.received)
        eventually(
            "both hang", lambda before=before: len(receiver.got) > before[0] and len(server.received) > before[1]
        )
        cloud.kill()
        cloud.kill()
        receiver.answers.set()
        server.answers.set()

    # they fail
    receiver.status, server.data = 503, "451 try later"
    server.recipients["bob@example.com"] = "450 greylisted"
    cloud.tell(BATCH)
    before = cloud.count()
    eventually("both were tried", lambda: cloud.count() > before + 3)
    cloud.kill()
    receiver.status, server.data = 204, "250 OK"

    # the mail server is gone, and comes back
    server.stop()
    cloud.tell(BATCH)
    eventually(
        "it is missed", lambda: any("mails wait for the sink smtp" in each.log_text() for each in cloud.collectors)
    )
    cloud.kill()
    server.recipients.clear()
    server.start()

    eventually("all is delivered", cloud.is_all_delivered)
    check_webhook(cloud)
    check_mails(cloud)


def check_webhook(cloud: Cloud) -> None:
    bodies: dict[str, set[bytes]] = defaultdict(set)
    order: dict[str, list[int]] = defaultdict(list)
    for headers, body in cloud.receiver.got:
        document = json.loads(body)
        assert headers["Limes-Message-Id"] == document["id"]
        if document["id"] not in bodies:
            order[str(document["order"] % 4)].append(document["order"])
        bodies[document["id"]].add(body)
    assert set(bodies) == set(cloud.told)
    assert {len(each) for each in bodies.values()} == {1}
    assert len(cloud.receiver.got) > len(cloud.told), "some arrived twice"
    assert all(numbers == sorted(numbers) for numbers in order.values()), "each project's are in order"


def check_mails(cloud: Cloud) -> None:
    contents: dict[str, set[bytes]] = defaultdict(set)
    mails_of: dict[tuple[str, str], set[str]] = defaultdict(set)
    for recipient, message in cloud.server.received:
        id_ = str(message["Message-ID"])
        contents[id_].add(message.as_bytes())
        text = text_of(message)
        for told in cloud.told:
            if f"marker {told}" in text:
                mails_of[recipient, told].add(id_)
    assert set(mails_of) == {(person, told) for person in PEOPLE for told in cloud.told}
    assert {len(ids) for ids in mails_of.values()} == {1}, "nothing is in two mails"
    assert {len(each) for each in contents.values()} == {1}
    assert len(cloud.server.received) > len(contents), "some arrived twice"
