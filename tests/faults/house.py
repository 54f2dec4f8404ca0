"""The real processes of the fault tests: one API with two workers, and any number of collectors."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import requests
import yaml

from limes.db.engine import Engine
from limes.kernel.errors import Unavailable
from tests.faults.backend import FakeBackend
from tests.support.limes_process import MODULES, ROOT, limes_server, run_limes
from tests.support.processes import ServerProcess, free_port

longer = pytest.mark.skipif("LIMES_FAULT_ROUNDS" not in os.environ, reason="one of the longer faults: make faults")
"""Takes long with a fault that is tried once, too, so it runs only when a number of rounds is asked for."""
TOKEN = "fault-admin"
SERVICES = ("compute", "volume")
DOMAIN = "d1"
PROJECTS = [f"p{number}" for number in range(20)]
LEASE = 4

_SAMPLE = {
    "method": "sample",
    "sample": {
        "domains": [{"name": "one", "id": DOMAIN}],
        "projects": [{"name": "boss", "domain": "one"}],
        "users": [
            {"name": "boss", "domain": "one", "assignments": [{"project": "boss", "roles": ["cloud_resource_admin"]}]}
        ],
        "tokens": [{"token": TOKEN, "user": "boss", "project": "boss"}],
    },
}
_STATIC = {
    "method": "static",
    "params": {
        "domains": [
            {
                "id": DOMAIN,
                "name": "one",
                "projects": [{"id": project, "name": project, "parent_id": DOMAIN} for project in PROJECTS],
            }
        ]
    },
}


class FaultHouse:
    """Quick to try again, so that minutes of an operator's life pass in seconds. `sections` are added to the
    configuration, in place of our own."""

    def __init__(
        self,
        folder: Path,
        database_url: str,
        backend: FakeBackend,
        *,
        identity: dict[str, Any] = _SAMPLE,
        discovery: dict[str, Any] = _STATIC,
        sections: Mapping[str, Any] = MappingProxyType({}),
        **env: str,
    ) -> None:
        self.folder = folder
        self.backend = backend
        self.engine = Engine(database_url, pool_size=4)
        self.api_url = f"http://127.0.0.1:{free_port()}"
        self.config = folder / "limes.yaml"
        document = {
            "availability_zones": ["az-one"],
            "discovery": discovery,
            "services": [
                {"service_type": name, "type": "fault", "threads": 3, "params": {"url": backend.url}}
                for name in SERVICES
            ],
            "database": {"url": database_url, "statement_timeout": 5, "lock_timeout": 3},
            "api": {"listen": self.api_url.removeprefix("http://"), "workers": 2, "threads": 4, "backend_timeout": 2},
            "collector": {
                "scrape_interval": 3,
                "scrape_retry": 0.5,
                "scrape_retry_max": 2,
                "push_retry": 0.5,
                "push_retry_max": 2,
                "discovery_interval": 2,
                "consistency_interval": 5,
                "poll_interval": 0.2,
                "lease": LEASE,
            },
            "circuit_breaker": {"failures": 3, "pause": 0.5, "pause_max": 1},
            "identity": identity,
            **sections,
        }
        self.config.write_text(yaml.safe_dump(document))
        path = f"{MODULES['PYTHONPATH']}:{ROOT / 'tests' / 'faults' / 'entry_points'}"
        self.env = {"LIMES_CONFIG": str(self.config), "PYTHONPATH": path, **env}
        self.api: ServerProcess | None = None
        self.collectors: list[ServerProcess] = []
        self.collector_addresses: list[str] = []
        self.others: list[ServerProcess] = []
        self._started = 0

    def start(self, collectors: int = 2) -> None:
        """Makes the tables, and starts everything."""
        done = run_limes("db", "upgrade", **self.env)
        assert done.returncode == 0, done.stderr
        self.api = self._process("api", self.api_url).start()
        for _ in range(collectors):
            self.add_collector()

    def add_collector(self, **env: str) -> ServerProcess:
        """Starts one more."""
        self._started += 1
        address = f"127.0.0.1:{free_port()}"
        self.collector_addresses.append(address)
        process = self._process("collect", f"http://{address}", LIMES_COLLECTOR_METRICS_LISTEN_ADDRESS=address, **env)
        self.collectors.append(process.start())
        return process

    def add_metrics(self, address: str) -> None:
        """Starts `limes metrics`, with a configuration of its own that only has another address."""
        self._started += 1
        file = self.folder / f"metrics-{self._started}.yaml"
        file.write_text(yaml.safe_dump({**yaml.safe_load(self.config.read_text()), "metrics": {"listen": address}}))
        self.others.append(self._process("metrics", f"http://{address}", LIMES_CONFIG=str(file)).start())

    def _process(self, command: str, url: str, **env: str) -> ServerProcess:
        log = self.folder / f"{command}-{self._started}.log"
        return limes_server(command, listen=url.removeprefix("http://"), log=log, **(self.env | env))

    def stop(self) -> None:
        """Stops everything."""
        for process in [*self.others, *self.collectors, *([self.api] if self.api else [])]:
            process.stop(timeout=5)
        self.engine.close()

    def request(self, method: str, path: str, body: Any = None, token: str = TOKEN) -> requests.Response:
        """A request to the API."""
        with requests.Session() as session:
            session.trust_env = False
            return session.request(method, self.api_url + path, json=body, headers={"X-Auth-Token": token}, timeout=200)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """From the database, past all processes."""
        return self.engine.rows(sql)

    def set_up_quota(self) -> None:
        """Waits until everything was scraped, and gives the domain plenty to share out."""
        unscraped = "SELECT COUNT(*) FROM project_services WHERE scraped_at IS NULL"
        known = "SELECT COUNT(*) FROM project_services"
        eventually("all is scraped", lambda: self.rows(known) != [(0,)] and self.rows(unscraped) == [(0,)])
        services = [{"type": name, "resources": [{"name": "cores", "quota": 10**12}]} for name in SERVICES]
        domain = self.rows("SELECT uuid FROM domains ORDER BY id")[0][0]
        answer = self.request("PUT", f"/v1/domains/{domain}", {"domain": {"services": services}})
        assert answer.status_code == 202, answer.text

    def check_recovery(self) -> None:
        """All is scraped anew without an error, and the backends enforce what the database says."""
        (now,) = self.rows("SELECT MAX(scraped_at) FROM project_services")[0]
        old = f"SELECT COUNT(*) FROM project_services WHERE scraped_at <= {now} OR scrape_error <> ''"
        eventually("all is scraped anew", lambda: self.rows(old) == [(0,)])
        pending = "SELECT COUNT(*) FROM project_services WHERE quota_desynced_at IS NOT NULL"
        eventually("all quota is written", lambda: self.rows(pending) == [(0,)])
        rows = self.rows(
            "SELECT s.type, p.uuid, pr.quota FROM project_resources pr JOIN projects p ON p.id = pr.project_id"
            " JOIN resources r ON r.id = pr.resource_id JOIN services s ON s.id = r.service_id WHERE r.name = 'cores'"
        )
        wrong = [
            (service, project, quota, self.backend.quotas.get((service, project)))
            for service, project, quota in rows
            if self.backend.quotas.get((service, project), {"cores": 0})["cores"] != quota
        ]
        assert wrong == []
        assert self.backend.contradictions() == []


def eventually(what: str, check: Callable[[], Any], timeout: float = 200.0) -> None:
    """Repeats `check` until it is true; a database that does not answer is not."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            if check():
                return
        except Unavailable:
            pass
        assert time.monotonic() < deadline, f"did not happen in {timeout:.0f} s: {what}"
        time.sleep(0.05)
