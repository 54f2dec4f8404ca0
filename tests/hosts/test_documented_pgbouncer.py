"""PgBouncer as docs/postgresql.md sets it up: with passwords, and with TLS to a PostgreSQL that accepts nothing else."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from limes.db.engine import Engine
from limes.kernel.errors import LimesError
from tests.faults.backend import fake_backend
from tests.hosts.hosts import Cloud
from tests.hosts.release import this_release
from tests.setup.needs import OPENSSL, PGBOUNCER
from tests.support.documented import documented_files, with_ports
from tests.support.machine import require
from tests.support.nobody import as_nobody, nobody
from tests.support.pgbouncer import needs_sessions
from tests.support.postgres import PostgresServer
from tests.support.processes import ServerProcess, free_port, scratch_folder

PASSWORD = "so geheim wie nie"
SETTINGS_OF_TLS = {"ssl": "on", "ssl_cert_file": "limes.pem", "ssl_key_file": "limes.key"}
ENCRYPTED = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
FILES = documented_files("postgresql.md")
pytestmark = needs_sessions


@pytest.fixture
def authority(postgres: PostgresServer, tmp_path: Path) -> Iterator[Path]:
    """The certificate of who has signed PostgreSQL's, which has TLS now."""
    require(OPENSSL)
    ca, key, cert = (tmp_path / name for name in ("ca.pem", "limes.key", "limes.pem"))
    new = "openssl req -x509 -newkey rsa:2048 -nodes -days 1"
    command = f"""
        {new} -subj /CN=CA -addext keyUsage=critical,keyCertSign -keyout ca.key -out ca.pem
        {new} -CA ca.pem -CAkey ca.key -subj /CN=localhost -addext basicConstraints=critical,CA:FALSE \\
            -addext subjectAltName=DNS:localhost -keyout limes.key -out limes.pem
    """
    subprocess.run(["sh", "-euc", command], cwd=tmp_path, capture_output=True, check=True, timeout=100)
    data = postgres.socket_folder / "data"
    for file in (key, cert):
        shutil.copy(file, data)
        shutil.chown(data / file.name, data.stat().st_uid)
    (data / key.name).chmod(0o600)
    for setting, value in SETTINGS_OF_TLS.items():
        postgres.execute(f"ALTER SYSTEM SET {setting} = '{value}'")
    yield ca
    for setting in SETTINGS_OF_TLS:
        postgres.execute(f"ALTER SYSTEM RESET {setting}")
    postgres.execute("SELECT pg_reload_conf()")


@pytest.fixture
def role(postgres: PostgresServer, authority: Path) -> Iterator[str]:
    """Our user, who needs a password and TLS, with a database."""
    hba = postgres.socket_folder / "data" / "pg_hba.conf"
    before = hba.read_text()
    lines = [
        f"{line} limes limes {address} {method}"
        for line, method in (("hostssl", "scram-sha-256"), ("hostnossl", "reject"))
        for address in ("127.0.0.1/32", "::1/128")
    ]
    hba.write_text("\n".join([*lines, before]))
    postgres.execute(f"CREATE ROLE limes LOGIN PASSWORD '{PASSWORD}'")
    postgres.execute("CREATE DATABASE limes OWNER limes TEMPLATE template0")
    postgres.execute("SELECT pg_reload_conf()")
    yield "limes"
    hba.write_text(before)
    postgres.drop_database("limes")
    postgres.execute("DROP ROLE limes")


@pytest.fixture
def url(postgres: PostgresServer, role: str, authority: Path) -> Iterator[str]:
    """The address in the documented configuration of Limes, with a PgBouncer behind it."""
    ports = {"5432": postgres.port, "6432": free_port()}
    url: str = yaml.safe_load(with_ports(FILES["/etc/limes/limes.yaml"], ports))["database"]["url"]
    with scratch_folder("limes-pgb-", nobody()) as folder:
        users, config = folder / "userlist.txt", folder / "pgbouncer.ini"
        ((line,),) = postgres.execute(FILES["userlist.sql"])
        users.write_text(f"{line}\n")
        text = with_ports(FILES["/etc/pgbouncer/pgbouncer.ini"], ports)
        for ours in (users, shutil.copy(authority, folder)):
            text = text.replace(f"/etc/pgbouncer/{Path(ours).name}", str(ours))
        config.write_text(text.replace("db.example.com", "localhost"))
        engine = Engine(url.replace(f"{role}@", f"{role}:{PASSWORD.replace(' ', '%20')}@"))

        def is_up() -> bool:
            try:
                engine.ping()
            except LimesError:
                return False
            return True

        with ServerProcess(as_nobody([require(PGBOUNCER), config]), ready=is_up, log=folder / "pgbouncer.log"):
            assert engine.rows(ENCRYPTED) == [(True,)]
            yield url
        engine.close()


def test_it_works(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMES_DB_PASSWORD", PASSWORD)
    release = this_release()
    with fake_backend() as backend:
        cloud = Cloud(tmp_path, url, backend)
        cloud.upgrade(release)
        answer = release.run("doctor", "--json", env={"LIMES_CONFIG": str(cloud.config)}, codes=(0, 1))
    findings = {one["check"]: one for one in json.loads(answer)["findings"] if one["check"].startswith("database.")}
    assert {one["level"] for one in findings.values()} == {"ok"}, findings
    assert findings["database.pooler"]["message"] == (
        "a connection pooler is in front of PostgreSQL, in transaction mode; our timeouts hold"
    )
