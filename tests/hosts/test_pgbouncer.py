"""All processes behind PgBouncer in transaction mode, which is restarted while clients work."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.backend import FakeBackend, fake_backend
from tests.hosts.clients import Clients
from tests.hosts.hosts import TOKEN, Cloud, Host
from tests.hosts.invariants import check_backends, check_nothing_is_lost, check_nothing_is_oversold
from tests.hosts.release import this_release
from tests.hosts.sender import Sender
from tests.support.pgbouncer import PgBouncer, pgbouncer
from tests.support.postgres import PostgresServer
from tests.support.processes import eventually

CONNECTIONS = 5
RESTARTS = 2


@pytest.fixture
def pooler(postgres: PostgresServer) -> Iterator[PgBouncer]:
    """With fewer connections than our processes have."""
    with pgbouncer(postgres.port, default_pool_size=str(CONNECTIONS)) as one:
        yield one


@pytest.fixture
def cloud(pooler: PgBouncer, postgres: PostgresServer, tmp_path: Path) -> Iterator[Cloud]:
    name = postgres.create_database()
    with fake_backend() as backend:
        yield make_cloud(tmp_path, pooler.url(name), backend)
    postgres.drop_database(name)


def make_cloud(folder: Path, url: str, backend: FakeBackend) -> Cloud:
    """One whose collector serves data metrics, which are read with cursors."""
    return Cloud(folder, url, backend, collector={"data_metrics": {"expose": True}})


def test_it_is_restarted_under_load(cloud: Cloud, pooler: PgBouncer) -> None:
    release = this_release()
    cloud.upgrade(release)
    host = Host(cloud, 1, release).start()
    try:
        sender = Sender(host)
        clients = Clients(cloud, sender.send, may_fail=True)
        clients.set_up()
        with clients.at_work():
            clients.wait_for_more(5)
            assert clients.failed == []
            check_connections_are_shared(pooler)
            for _ in range(RESTARTS):
                wanted = len(clients.failed) + 3
                pooler.process.stop()
                eventually("clients notice", lambda wanted=wanted: len(clients.failed) >= wanted)
                pooler.process.start()
                clients.wait_for_more(5)
        assert clients.problems == []
        check_cursors(sender)
        check_nothing_is_lost(clients)
        check_nothing_is_oversold(cloud)
        check_backends(cloud)
        findings = json.loads(release.run("doctor", "--json", env={"LIMES_CONFIG": str(cloud.config)}, codes=(0, 1)))
        (found,) = [finding for finding in findings["findings"] if finding["check"] == "database.pooler"]
        assert "a connection pooler is in front of PostgreSQL" in found["message"]
        for process in host.processes.values():
            assert "there is a pooler in front of the database" in process.log_text()
    finally:
        host.stop()
        cloud.engine.close()


def check_connections_are_shared(pooler: PgBouncer) -> None:
    """More clients than connections to PostgreSQL, as they are only needed for the time of a transaction."""
    eventually(
        "there are more clients than connections",
        lambda: len(of_limes(pooler, "SHOW CLIENTS")) > len(of_limes(pooler, "SHOW SERVERS")),
    )
    assert len(of_limes(pooler, "SHOW SERVERS")) <= CONNECTIONS


def of_limes(pooler: PgBouncer, command: str) -> list[dict[str, Any]]:
    return [row for row in pooler.ask(command) if row["database"].startswith("test_")]


def check_cursors(sender: Sender) -> None:
    """Answers that are read with cursors come whole."""
    assert "\nlimes_project_quota{" in sender.send("collect", "GET", "/metrics").text
    headers = {"X-Auth-Token": TOKEN, "OpenStack-API-Version": "placement 1.39"}
    for process, path in (("placement", "/usage_groups?group_by=consumer"), ("api", "/v1/projects")):
        answer = sender.send(process, "GET", path, headers=headers)
        assert answer.status_code == 200, answer.text
