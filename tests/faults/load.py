"""Users who set quota all the time, and remember what they were told."""

import contextlib
import threading
import time
from collections.abc import Iterator

import requests

from tests.faults.house import FaultHouse


class Users:
    """Each user has projects of its own, and gives them ever larger quotas."""

    def __init__(self, house: FaultHouse, service: str = "compute", start: int = 0) -> None:
        """All quotas are larger than `start`."""
        self.house = house
        self._start = start
        self.service = service
        self.acknowledged: dict[str, int] = {}
        """The last quota of each project that was answered with 202."""
        self.unknown: dict[str, set[int]] = {}
        """Those after it that had no such answer: they may be there or not."""
        self.accepted = 0
        self.failed = 0
        self.slowest = 0.0
        """Seconds that the slowest answer took."""
        self._over = threading.Event()
        self._lock = threading.Lock()
        (self._domain,) = {row[0] for row in house.rows("SELECT uuid FROM domains ORDER BY id LIMIT 1")}

    @contextlib.contextmanager
    def at_work(self, users: int = 4) -> Iterator["Users"]:
        """They work for as long as the block lasts."""
        projects = [
            row[0]
            for row in self.house.rows(
                "SELECT p.uuid FROM projects p JOIN domains d ON d.id = p.domain_id"
                f" WHERE d.uuid = '{self._domain}' ORDER BY p.id"
            )
        ]
        threads = [threading.Thread(target=self._work, args=[projects[number::users]]) for number in range(users)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._over.set()
            for thread in threads:
                thread.join(150)

    def _work(self, projects: list[str]) -> None:
        quota = self._start
        while not self._over.is_set():
            for project in projects:
                if self._over.is_set():
                    return
                quota += 1
                self._set(project, quota)
            time.sleep(0.02)

    def stop(self) -> None:
        """They ask for nothing more; what they have asked for may still be under way."""
        self._over.set()

    def _set(self, project: str, quota: int) -> None:
        resources = [{"name": "cores", "quota": quota}]
        body = {"project": {"services": [{"type": self.service, "resources": resources}]}}
        began = time.monotonic()
        try:
            answer = self.house.request("PUT", f"/v1/domains/{self._domain}/projects/{project}", body)
            status = answer.status_code
        except requests.RequestException:
            status = 0
        with self._lock:
            self.slowest = max(self.slowest, time.monotonic() - began)
            if status == 202:
                self.accepted += 1
                self.acknowledged[project] = quota
                self.unknown[project] = set()
            else:
                assert status in (0, 503), answer.text
                self.failed += 1
                self.unknown.setdefault(project, set()).add(quota)

    def check_nothing_is_lost(self) -> None:
        """Each project has the last quota that was acknowledged, or one that was asked for after it."""
        rows = self.house.rows(
            "SELECT p.uuid, pr.quota FROM project_resources pr JOIN projects p ON p.id = pr.project_id"
            " JOIN resources r ON r.id = pr.resource_id JOIN services s ON s.id = r.service_id"
            f" WHERE r.name = 'cores' AND s.type = '{self.service}'"
        )
        stored = dict(rows)
        lost = {
            project: (stored.get(project), quota)
            for project, quota in self.acknowledged.items()
            if stored.get(project) not in {quota, *self.unknown[project]}
        }
        assert lost == {}
        assert self.acknowledged
