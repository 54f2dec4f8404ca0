"""A cluster of three PostgreSQL servers that Patroni runs, with etcd and HAProxy, as docs/postgresql.md sets it up."""

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg2
import requests
import yaml

from tests.setup.needs import ETCD, HAPROXY, PATRONI, POSTGRESQL
from tests.support.documented import documented_files, with_ports
from tests.support.machine import require
from tests.support.nobody import as_nobody, nobody
from tests.support.postgres import copy_of, others_can_reach
from tests.support.processes import ServerProcess, eventually, free_port, scratch_folder

PASSWORD = "our password"
"""Of the user `limes`, as the page has it."""
NAMES = ("pg1", "pg2", "pg3")
_QUICK = {"ttl": 20, "loop_wait": 2, "retry_timeout": 3}
"""Patroni allows no shorter ones, but for `loop_wait`."""


class Member:
    """One machine, with its own loopback address: etcd, Patroni and PostgreSQL."""

    def __init__(
        self, name: str, address: str, api: str, etcd: ServerProcess, patroni: ServerProcess, data: Path
    ) -> None:
        self.name = name
        self.address = address
        self.etcd = etcd
        self.patroni = patroni
        self._api = api
        self._data = data

    def ask(self, method: str, path: str, **options: Any) -> requests.Response | None:
        """A request to Patroni; None if it does not answer."""
        try:
            return requests.request(method, self._api + path, timeout=30, **options)
        except requests.RequestException:
            return None

    def is_primary(self) -> bool:
        """Whether Patroni says so."""
        answer = self.ask("GET", "/primary")
        return answer is not None and answer.status_code == 200

    def kill(self) -> None:
        """Patroni and PostgreSQL are gone at once, and do not say goodbye."""
        self.patroni.signal(signal.SIGKILL)
        self.kill_postgres()
        self.patroni.stop()

    def kill_postgres(self) -> None:
        """PostgreSQL alone."""
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((self._data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def stop(self) -> None:
        """Ends everything."""
        self.patroni.stop(timeout=30)
        self.kill_postgres()
        self.etcd.stop()


class PatroniCluster:
    """All of it, with HAProxy in front."""

    def __init__(self, folder: Path) -> None:
        self._files = documented_files("postgresql.md")
        self._folder = folder
        self._ports = {port: free_port() for port in ("5432", "8008", "2379", "2380", "5000")}
        self._binaries = _binaries(folder)
        self.members = [self._member(name) for name in NAMES]
        config = folder / "haproxy.cfg"
        config.write_text(with_ports(self._files["/etc/haproxy/haproxy.cfg"], self._ports))
        self.haproxy = ServerProcess(
            [require(HAPROXY), "-db", "-f", config], ready=lambda: True, log=folder / "haproxy.log"
        )

    def start(self) -> None:
        """Returns when there are a primary and two standbys, and the database of Limes is there."""
        for member in self.members:
            member.etcd.start()
        for member in self.members:
            member.patroni.start()
        self.haproxy.start()
        self.wait_until_whole()
        for sql in self._files["limes.sql"].split(";\n"):
            if sql.strip():
                self.execute(sql)

    def stop(self) -> None:
        """Ends everything, standbys first."""
        self.haproxy.stop()
        for member in sorted(self.members, key=Member.is_primary):
            member.stop()

    def url(self, which: str) -> str:
        """The address of the database `with HAProxy`, or without."""
        url: str = yaml.safe_load(self._files[which])["database"]["url"]
        url = re.sub(r"192\.0\.2\.(\d+)(?=[,/])", r"192.0.2.\1:5432", url)
        return with_ports(url, self._ports).replace("limes@", f"limes:{quote(PASSWORD)}@")

    @property
    def haproxy_port(self) -> int:
        """Where HAProxy leads to the primary."""
        return self._ports["5000"]

    def primary(self) -> Member:
        """The one that Patroni says is it; waits until there is one."""
        found: list[Member] = []

        def look() -> bool:
            found[:] = [member for member in self.members if member.is_primary()]
            return len(found) == 1

        eventually("there is one primary", look)
        return found[0]

    def wait_until_whole(self) -> None:
        """Until there are a primary, a standby that confirms commits, and another one."""
        wanted = {"leader": 1, "sync_standby": 1, "replica": 1}

        def is_whole() -> bool:
            for member in self.members:
                answer = member.ask("GET", "/cluster")
                members = answer.json()["members"] if answer is not None else []
                roles = [one["role"] for one in members if one["state"] in ("running", "streaming")]
                if {role: roles.count(role) for role in wanted} == wanted:
                    return True
            return False

        eventually("the cluster is whole", is_whole)

    def switch_over(self) -> Member:
        """Hands over to a standby, and returns the new primary."""
        old = self.primary()
        answer = old.ask("POST", "/switchover", json={"leader": old.name})
        assert answer is not None
        assert answer.status_code == 200, answer.text
        return self.primary()

    def fail_over(self) -> Member:
        """Kills the primary, and returns the new one, once it is elected."""
        old = self.primary()
        old.kill()
        return self.primary()

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        """Runs a statement on the primary, as superuser."""
        connection = psycopg2.connect(
            host=self.primary().address,
            port=self._ports["5432"],
            user="postgres",
            password="superuser's password",
            dbname="postgres",
        )
        with contextlib.closing(connection):
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall() if cursor.description else []

    def _member(self, name: str) -> Member:
        folder = self._folder / name
        folder.mkdir()
        if (user := nobody()) is not None:
            os.chown(folder, user, -1)
        address = f"127.0.0.2{name[-1]}"
        etcd = ServerProcess(
            [require(ETCD)], ready=lambda: True, log=folder / "etcd.log", env=self._etcd_settings(name, folder)
        )
        config = folder / "config.yml"
        config.write_text(yaml.safe_dump(self._patroni_settings(name, folder)))
        patroni = ServerProcess(as_nobody([require(PATRONI), config]), ready=lambda: True, log=folder / "patroni.log")
        return Member(name, address, f"http://{address}:{self._ports['8008']}", etcd, patroni, folder / "data")

    def _etcd_settings(self, name: str, folder: Path) -> dict[str, str]:
        lines = self._files["/etc/default/etcd"].splitlines()
        settings = dict(line.split("=", 1) for line in lines)
        for key in settings:
            if key != "ETCD_INITIAL_CLUSTER":  # the same on all
                settings[key] = _as_member(settings[key], name)
        settings["ETCD_DATA_DIR"] = str(folder / "etcd")
        return {key: with_ports(value, self._ports) for key, value in settings.items()}

    def _patroni_settings(self, name: str, folder: Path) -> dict[str, Any]:
        document = yaml.safe_load(with_ports(self._files["/etc/patroni/config.yml"], self._ports))
        document["name"] = name
        for section in (document["restapi"], document["postgresql"]):
            for key in ("listen", "connect_address"):
                section[key] = section[key].replace("127.0.0.21", f"127.0.0.2{name[-1]}")
        document["bootstrap"]["dcs"] |= _QUICK
        document["postgresql"] |= {
            "data_dir": str(folder / "data"),
            "bin_dir": str(self._binaries),
            "pgpass": str(folder / "pgpass"),
            "parameters": {"unix_socket_directories": str(folder), "shared_buffers": "32MB"},
        }
        return dict(document)


def _as_member(text: str, name: str) -> str:
    return text.replace("pg1", name).replace("192.0.2.21", f"192.0.2.2{name[-1]}")


def _binaries(folder: Path) -> Path:
    """PostgreSQL's programs where the user of the servers can reach them."""
    binaries = require(POSTGRESQL)
    if nobody() is None or others_can_reach(binaries):
        return binaries
    return copy_of(binaries, folder / "site-packages")


@contextlib.contextmanager
def patroni_cluster() -> Iterator[PatroniCluster]:
    """Runs one while the block lasts."""
    for need in (POSTGRESQL, ETCD, PATRONI, HAPROXY):
        require(need)
    with scratch_folder("limes-ha-", nobody()) as folder:
        cluster = PatroniCluster(folder)
        try:
            cluster.start()
            yield cluster
        except BaseException:
            _show_logs(folder)
            raise
        finally:
            cluster.stop()


def _show_logs(folder: Path) -> None:
    """pytest shows what a failed test has printed."""
    for log in sorted(folder.rglob("*.log")):
        print(f"-- {log.parent.name}/{log.name}", *log.read_text(errors="replace").splitlines()[-30:], sep="\n")
