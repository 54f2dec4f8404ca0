"""The processes of the soak: those of the fault tests, and Placement. One worker of each server is never killed."""

import contextlib
import os
import random
import signal
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.faults.backend import FakeBackend
from tests.faults.house import TOKEN, FaultHouse
from tests.soak.tally import Tally
from tests.support.postgres_cluster import PostgresCluster
from tests.support.processes import ServerProcess, children_of, free_port

CAPACITY = 1500
"""Cores, which all buyers together want more of."""
FAULTS = ("an API worker", "a Placement worker", "a collector", "all database sessions", "PostgreSQL")
"""What is killed, in turn."""
_BOSS = ["admin", "service", "cloud_resource_admin"]


class SoakCloud(FaultHouse):
    """A cloud in which everything happens often."""

    def __init__(self, folder: Path, cluster: PostgresCluster, backend: FakeBackend, tally: Tally) -> None:
        super().__init__(folder, cluster.url("postgres"), backend)
        self.tally = tally
        self._cluster = cluster
        self.placement_url = f"http://127.0.0.1:{free_port()}"
        document: dict[str, Any] = yaml.safe_load(self.config.read_text())
        document["api"]["workers"] = 3
        document["placement"] = {"listen": self.placement_url.removeprefix("http://"), "workers": 3, "threads": 4}
        document["identity"]["sample"]["users"][0]["assignments"][0]["roles"] = _BOSS
        document["capacitors"] = [
            {"id": "all", "type": "manual", "params": {"values": {"compute": {"cores": {"az-one": CAPACITY}}}}}
        ]
        document["resource_behavior"] = [
            {"resource": "compute/cores", "commitment_durations": ["1 day"], "commitment_is_az_aware": True}
        ]
        document["collector"] |= {"capacity_interval": 5, "commitment_use_interval": 5}
        document["commitments"] = {"self_delete_grace": "1 day"}
        document["audit"] = {"history_retention": 300}
        self.config.write_text(yaml.safe_dump(document))
        self.placement: ServerProcess | None = None
        self._spared: dict[int, int] = {}
        self.kills: dict[str, int] = {}

    def start(self, collectors: int = 2) -> None:
        """Starts everything, and waits until there is capacity."""
        super().start(collectors)
        self.placement = self._process("placement", self.placement_url).start()
        assert self.api is not None
        for process in (self.api, self.placement):
            self._spared[process.pid] = children_of(process.pid)[0]

    def stop(self) -> None:
        if self.placement is not None:
            self.placement.stop(timeout=5)
        super().stop()

    def request(self, method: str, path: str, body: Any = None, token: str = TOKEN) -> requests.Response:
        """A request to the Limes API, counted. Raises `RequestException` without an answer."""
        kind = f"{method} {'quota' if method == 'PUT' else path.partition('?')[0].rpartition('/')[2]}"
        answer = self.ask(kind, method, path, body)
        if answer is None:
            raise requests.ConnectionError
        return answer

    def ask(self, kind: str, method: str, path: str, body: Any = None, **headers: str) -> requests.Response | None:
        """The same with a name for the table. Answers None without an answer."""
        headers = {"X-Auth-Token": TOKEN, **headers}
        url = self.api_url + path
        return self.tally.ask(
            kind, lambda session: session.request(method, url, json=body, headers=headers, timeout=60)
        )

    def ask_placement(self, kind: str, method: str, path: str, body: Any = None) -> requests.Response | None:
        """A request to Placement."""
        headers = {"X-Auth-Token": TOKEN, "OpenStack-API-Version": "placement 1.39"}
        url = self.placement_url + path
        return self.tally.ask(
            kind, lambda session: session.request(method, url, json=body, headers=headers, timeout=60)
        )

    @property
    def survivors(self) -> dict[str, int]:
        """The processes that are never killed, by name."""
        api, placement = self._spared.values()
        return {"API worker": api, "Placement worker": placement, "collector": self.collectors[0].pid}

    def kill_something(self, turn: int) -> None:
        """One thing after the other."""
        kills = {
            "an API worker": lambda: self._kill_worker(self.api),
            "a Placement worker": lambda: self._kill_worker(self.placement),
            "a collector": self._kill_collector,
            "all database sessions": self._kill_sessions,
            "PostgreSQL": self._crash_postgres,
        }
        name = FAULTS[turn % len(FAULTS)]
        kills[name]()
        self.kills[name] = self.kills.get(name, 0) + 1

    def _kill_worker(self, process: ServerProcess | None) -> None:
        assert process is not None
        victims = [pid for pid in children_of(process.pid) if pid != self._spared[process.pid]]
        with contextlib.suppress(ProcessLookupError):
            os.kill(random.choice(victims), signal.SIGKILL)

    def _kill_collector(self) -> None:
        victim = self.collectors.pop()
        victim.signal(signal.SIGKILL)
        victim.stop()
        self.add_collector()

    def _kill_sessions(self) -> None:
        self._cluster.primary.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )

    def _crash_postgres(self) -> None:
        self._cluster.primary.crash()
        self._cluster.primary.start()
