"""PgBouncer as docs/postgresql.md sets it up, with passwords."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from limes.db.engine import Engine
from limes.errors import LimesError
from tests.faults.backend import fake_backend
from tests.hosts.hosts import Cloud
from tests.hosts.release import this_release
from tests.setup.needs import PGBOUNCER
from tests.support.documented import documented_files, with_ports
from tests.support.machine import require
from tests.support.nobody import as_nobody, nobody
from tests.support.pgbouncer import needs_sessions
from tests.support.postgres import PostgresServer
from tests.support.processes import ServerProcess, free_port, scratch_folder

PASSWORD = "so geheim wie nie"
FILES = documented_files("postgresql.md")
pytestmark = needs_sessions


@pytest.fixture
def role(postgres: PostgresServer) -> Iterator[str]:
    """Our user, who needs a password, with a database."""
    hba = postgres.socket_folder / "data" / "pg_hba.conf"
    before = hba.read_text()
    hba.write_text(f"host limes limes 127.0.0.1/32 scram-sha-256\n{before}")
    postgres.execute(f"CREATE ROLE limes LOGIN PASSWORD '{PASSWORD}'")
    postgres.execute("CREATE DATABASE limes OWNER limes TEMPLATE template0")
    postgres.execute("SELECT pg_reload_conf()")
    yield "limes"
    hba.write_text(before)
    postgres.drop_database("limes")
    postgres.execute("DROP ROLE limes")


@pytest.fixture
def url(postgres: PostgresServer, role: str) -> Iterator[str]:
    """The address in the documented configuration of Limes, with a PgBouncer behind it."""
    ports = {"5432": postgres.port, "6432": free_port()}
    url: str = yaml.safe_load(with_ports(FILES["/etc/limes/limes.yaml"], ports))["database"]["url"]
    with scratch_folder("limes-pgb-", nobody()) as folder:
        users, config = folder / "userlist.txt", folder / "pgbouncer.ini"
        ((line,),) = postgres.execute(FILES["userlist.sql"])
        users.write_text(f"{line}\n")
        text = with_ports(FILES["/etc/pgbouncer/pgbouncer.ini"], ports)
        config.write_text(text.replace("127.0.0.20", "127.0.0.1").replace("/etc/pgbouncer/userlist.txt", str(users)))
        engine = Engine(url.replace(f"{role}@", f"{role}:{PASSWORD.replace(' ', '%20')}@"))

        def is_up() -> bool:
            try:
                engine.ping()
            except LimesError:
                return False
            return True

        with ServerProcess(as_nobody([require(PGBOUNCER), config]), ready=is_up, log=folder / "pgbouncer.log"):
            yield url
        engine.close()


def test_it_works(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMES_DB_PASSWORD", PASSWORD)
    release = this_release()
    with fake_backend() as backend:
        cloud = Cloud(tmp_path, url, backend)
        cloud.upgrade(release)
        answer = release.run("doctor", "--json", env={**os.environ, "LIMES_CONFIG": str(cloud.config)}, codes=(0, 1))
    findings = {one["check"]: one for one in json.loads(answer)["findings"] if one["check"].startswith("database.")}
    assert {one["level"] for one in findings.values()} == {"ok"}, findings
    assert findings["database.pooler"]["message"] == (
        "a connection pooler is in front of PostgreSQL, in transaction mode; our timeouts hold"
    )
