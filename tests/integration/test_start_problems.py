"""What prevents a start is one line on standard error: what, where, what to do. No traceback, no secret, exit code 1."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.databases import UrlFactory
from tests.support.levels import few_of
from tests.support.limes_process import run_here, run_limes
from tests.support.postgres import PostgresServer
from tests.support.processes import free_port

SECRET = "so-geheim-ist-es"
HERE = ("collect", "collect --once", "db upgrade", "db status", "status", "config check --against-database")
"""What can run in this process, as long as it does not start. The others become gunicorn, or start it."""
DOMAIN = {"id": "d", "name": "d", "projects": [{"id": "p", "name": "p", "parent_id": "d"}]}


class Installation:
    """A configuration file, and whatever is started with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.document: dict[str, Any] = {
            "availability_zones": ["az-one"],
            "database": {"url": f"sqlite:///{folder}/limes.db"},
            "discovery": {"method": "static", "params": {"domains": [DOMAIN]}},
            "services": [
                {
                    "service_type": "storage",
                    "type": "static",
                    "params": {"area": "storage", "resources": {"capacity": {"unit": "GiB", "quota": 0}}},
                }
            ],
            "identity": {"method": "sample", "sample": {}},
            **{name: {"listen": f"127.0.0.1:{free_port()}"} for name in ("api", "placement", "collector", "liquid")},
        }

    @property
    def config(self) -> Path:
        """The configuration file, as the document is now."""
        path = self.folder / "limes.yaml"
        path.write_text(yaml.safe_dump(self.document))
        return path

    def fail(self, command: str, *, alone: bool = False) -> str:
        """Runs a command that cannot start, and returns the line that says why. `alone`: in a process in any case."""
        arguments = [*command.split(), "--config", self.config]
        here = command in HERE and not alone
        done = run_here(*arguments) if here else run_limes(*arguments, cwd=self.folder)
        assert done.returncode == 1, done.stdout + done.stderr
        assert SECRET not in done.stdout + done.stderr
        (line,) = done.stderr.splitlines()
        assert line.startswith("limes")
        return line


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


@pytest.mark.parametrize("process", few_of(["api", *HERE, "placement", "serve"], 1 + len(HERE)))
def test_no_postgresql(installation: Installation, process: str) -> None:
    installation.document["database"] = {"url": f"postgresql://limes@127.0.0.1:{free_port()}/limes", "password": SECRET}
    line = installation.fail(process)
    assert "cannot use the PostgreSQL database limes on 127.0.0.1: " in line
    assert "Connection refused" in line
    assert "What to do: start PostgreSQL there, have it listen on that address (listen_addresses)" in line


@pytest.mark.parametrize(
    "process", few_of(["placement", "collect", "collect --once", "api", "liquid storage", "serve"], 3)
)
def test_no_keystone(installation: Installation, process: str) -> None:
    url = f"http://127.0.0.1:{free_port()}/v3"
    installation.document["identity"] = {
        "method": "keystone",
        "keystone": {
            "auth_url": url,
            "username": "limes",
            "user_domain_name": "Default",
            "password": SECRET,
            "project_name": "service",
            "project_domain_name": "Default",
        },
    }
    make_tables(installation)
    line = installation.fail(process)
    assert (
        f"cannot log in at Keystone ({url}): connection refused. What to do: correct identity.keystone.auth_url" in line
    )


def make_tables(installation: Installation) -> None:
    assert run_here("db", "upgrade", "--json", "--config", installation.config).returncode == 0


LISTENERS = [("api", "api"), ("serve", "placement"), ("placement", "placement"), ("collect", "collector")]


@pytest.mark.parametrize("case", few_of([*LISTENERS, ("liquid storage", "liquid")], 2), ids=" ".join)
def test_a_port_in_use(installation: Installation, case: tuple[str, str]) -> None:
    process, setting = case
    make_tables(installation)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        installation.document[setting] = {"listen": address}
        line = installation.fail(process, alone=True)  # a collector takes the signals of its process before
    assert f"{setting}.listen: cannot listen on {address}: Address already in use; stop what listens there" in line


@pytest.mark.long
def test_an_address_of_another_machine(installation: Installation) -> None:
    make_tables(installation)
    installation.document["identity"]["allow_non_loopback"] = True
    installation.document["api"] = {"listen": "192.0.2.1:8080"}
    assert (
        "api.listen: cannot listen on 192.0.2.1:8080: Cannot assign requested address; choose an address of this"
        in (installation.fail("api"))
    )


@pytest.mark.parametrize("process", few_of(["collect", "api", "placement"], 1))
def test_no_tables(installation: Installation, process: str, postgres_url_factory: UrlFactory) -> None:
    installation.document["database"] = {"url": postgres_url_factory()}
    assert installation.fail(process).endswith("Run: limes db upgrade")


def test_no_folder_for_sqlite(installation: Installation, tmp_path: Path) -> None:
    installation.document["database"] = {"url": f"sqlite:///{tmp_path}/no/limes.db"}
    line = installation.fail("db upgrade")
    assert line == (
        f"limes: cannot use the SQLite file {tmp_path}/no/limes.db: unable to open database file."
        f" What to do: make its folder: mkdir -p {tmp_path}/no"
    )


@pytest.fixture
def role(postgres: PostgresServer, installation: Installation) -> Iterator[tuple[str, str]]:
    """A role that owns nothing, and a database that it may connect to; its password is asked for."""
    name, database = "start_test", postgres.create_database()
    postgres.execute(f"DROP ROLE IF EXISTS {name}")
    postgres.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{SECRET}'")
    hba = postgres.socket_folder / "data" / "pg_hba.conf"
    line = f"host all {name} 127.0.0.1/32 scram-sha-256\n"
    if line not in hba.read_text():
        hba.write_text(line + hba.read_text())
        postgres.execute("SELECT pg_reload_conf()")
    url = postgres.url(database).replace("postgres@", f"{name}@")
    installation.document["database"] = {"url": url, "password": SECRET}
    yield name, database
    postgres.drop_database(database)
    postgres.execute(f"DROP ROLE {name}")


def test_without_the_right_to_make_tables(installation: Installation, role: tuple[str, str]) -> None:
    user, database = role
    line = installation.fail("db upgrade")
    assert "cannot be upgraded: permission denied for schema public" in line
    assert f'What to do: let our user make tables: ALTER DATABASE "{database}" OWNER TO {user}' in line
    assert "doctor" not in line


@pytest.mark.parametrize("process", few_of(["db upgrade", "api"], 1))
def test_a_wrong_password(installation: Installation, role: tuple[str, str], process: str) -> None:
    installation.document["database"]["password"] = f"{SECRET}-no-more"
    line = installation.fail(process)
    assert f'password authentication failed for user "{role[0]}"' in line
    assert "What to do: give the right password (LIMES_DB_PASSWORD)" in line


def test_a_database_that_does_not_exist(installation: Installation, role: tuple[str, str]) -> None:
    section = installation.document["database"]
    section["url"] = section["url"].replace(f"/{role[1]}", "/nowhere")
    line = installation.fail("collect")
    assert 'database "nowhere" does not exist. What to do: make it: createdb -O start_test nowhere' in line


def test_a_host_that_nobody_knows(installation: Installation) -> None:
    installation.document["database"] = {"url": "postgresql://limes@db.invalid/limes"}
    line = installation.fail("placement")
    assert "cannot use the PostgreSQL database limes on db.invalid" in line
    assert "What to do: correct the host in database.url, or have DNS know it" in line


def test_the_doctor_knows_of_the_missing_right(installation: Installation, role: tuple[str, str]) -> None:
    done = run_here("doctor", "--only", "database", "--json", "--config", installation.config)
    assert done.returncode == 2
    assert "our user may not make tables, so that limes db upgrade fails" in done.stdout
    assert "ALTER DATABASE" in done.stdout
    assert SECRET not in done.stdout
