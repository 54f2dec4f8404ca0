"""Hosts on loopback addresses of their own, each with an API, a Placement and a collector, around one PostgreSQL."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from limes.db.engine import Engine
from tests.faults.backend import FakeBackend
from tests.hosts.release import Release
from tests.support.processes import ServerProcess, free_port, http_answers

TOKEN = "hosts-admin"
DOMAIN = "d1"
PROJECTS = [f"p{number}" for number in range(20)]
LEASE = 5
"""Seconds that a task belongs to the collector that has claimed it."""
CAPACITY = 200
"""Of cores, all of which may be committed."""
ROLES = ["admin", "service", "cloud_resource_admin"]


class Cloud:
    """What all hosts share: the configuration and the database."""

    def __init__(self, folder: Path, database_url: str, backend: FakeBackend, **sections: Mapping[str, Any]) -> None:
        """`sections` are added to those of the configuration."""
        self.folder = folder
        self.backend = backend
        self.engine = Engine(database_url, pool_size=4)
        self.ports = {"api": free_port(), "placement": free_port(), "collect": free_port()}
        self.config = folder / "limes.yaml"
        document = _document(database_url, backend.url)
        for name, section in sections.items():
            document[name] = {**document.get(name, {}), **section}
        self.config.write_text(yaml.safe_dump(document))

    def upgrade(self, release: Release) -> None:
        """Brings the schema up to a release."""
        release.run("db", "upgrade", env={"LIMES_CONFIG": str(self.config)})

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """From the database, past all processes."""
        return self.engine.rows(sql)


class Host:
    """One machine: `127.0.0.NUMBER`."""

    def __init__(self, cloud: Cloud, number: int, release: Release, **env: str) -> None:
        """`env` is for its processes alone."""
        self.number = number
        self.address = f"127.0.0.{number}"
        self.cloud = cloud
        listen = {name: f"{self.address}:{port}" for name, port in cloud.ports.items()}
        env = {
            **release.env,
            "LIMES_CONFIG": str(cloud.config),
            "LIMES_API_LISTEN_ADDRESS": listen["api"],
            "LIMES_PLACEMENT_LISTEN_ADDRESS": listen["placement"],
            "LIMES_COLLECTOR_METRICS_LISTEN_ADDRESS": listen["collect"],
            **env,
        }
        self.processes = {
            name: ServerProcess(
                [*release.command, name],
                ready=http_answers(f"http://{address}/healthcheck"),
                log=cloud.folder / f"{self.address}-{name}.log",
                env=env,
                cwd=cloud.folder,
            )
            for name, address in listen.items()
        }
        self.reached_at: dict[str, str] = {}
        """Other addresses by which the proxy reaches its processes."""
        self._busy = 0
        self._quiet = threading.Condition()

    def start(self) -> "Host":
        """Starts all three, and returns when they are up."""
        pool = ThreadPoolExecutor(len(self.processes))  # kept: a process ends with the thread that started it
        for future in [pool.submit(process.start) for process in self.processes.values()]:
            future.result()
        self._pool = pool
        return self

    def stop(self) -> None:
        """Ends all three, at once."""
        self.signal(signal.SIGTERM)
        for process in self.processes.values():
            process.stop(timeout=60)

    def terminate(self) -> None:
        """Asks all three to end, as systemd does: only the main processes are told."""
        for process in self.processes.values():
            process.terminate()

    def wait_until_ended(self) -> None:
        """Until all three have ended by themselves."""
        for process in self.processes.values():
            process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to everything that runs on it."""
        for process in self.processes.values():
            if process.is_running():
                process.signal(number)

    def at(self, name: str) -> str:
        """Where its `api` or `placement` is reached."""
        return self.reached_at.get(name, f"{self.address}:{self.cloud.ports[name]}")

    def url(self, name: str) -> str:
        """Of its `api` or `placement`."""
        return f"http://{self.at(name)}"

    @contextlib.contextmanager
    def used(self) -> Iterator["Host"]:
        """For the time of one request."""
        with self._quiet:
            self._busy += 1
        try:
            yield self
        finally:
            with self._quiet:
                self._busy -= 1
                self._quiet.notify_all()

    def wait_until_unused(self) -> None:
        """Until all requests are answered."""
        with self._quiet:
            assert self._quiet.wait_for(lambda: not self._busy, 200)


def _document(database_url: str, backend_url: str) -> dict[str, Any]:
    """Quick to try again, so that minutes of an operator's life pass in seconds."""
    user = {"name": "boss", "domain": "one", "assignments": [{"project": "boss", "roles": ROLES}]}
    projects = [{"id": project, "name": project, "parent_id": DOMAIN} for project in PROJECTS]
    return {
        "availability_zones": ["az-one"],
        "discovery": {"method": "static", "params": {"domains": [{"id": DOMAIN, "name": "one", "projects": projects}]}},
        "services": [{"service_type": "compute", "type": "fault", "params": {"url": backend_url}}],
        "capacitors": [
            {"id": "cores", "type": "manual", "params": {"values": {"compute": {"cores": {"az-one": CAPACITY}}}}}
        ],
        "resource_behavior": [
            {"resource": "compute/cores", "commitment_durations": ["1 hour", "1 year"], "commitment_is_az_aware": True}
        ],
        "database": {"url": database_url, "statement_timeout": 30, "lock_timeout": 10},
        "api": {"workers": 1, "threads": 4, "backend_timeout": 5},
        "placement": {"workers": 1, "threads": 4},
        "collector": {
            "scrape_interval": 2,
            "scrape_retry": 0.5,
            "capacity_interval": 2,
            "push_retry": 0.5,
            "discovery_interval": 5,
            "consistency_interval": 5,
            "commitment_interval": 1,
            "poll_interval": 0.3,
            "lease": LEASE,
        },
        "identity": {
            "method": "sample",
            "sample": {
                "domains": [{"name": "one", "id": DOMAIN}],
                "projects": [{"name": "boss", "domain": "one"}],
                "users": [user],
                "tokens": [{"token": TOKEN, "user": "boss", "project": "boss"}],
            },
        },
    }
