"""The cloud that the browser tests see: three domains, one of them with many projects, and sample identities of each role.

acme      shop (uses 20 of 40 cores), shop-staging, analytics     cores 200, RAM 400 GiB
school    library                                                 cores 60
campus    PROJECTS projects without quota, of which some are odd: see UNREADABLE, OVERSPENT, OVERDRAWN
"""

import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.support.processes import ServerProcess, free_port, http_answers

PROJECTS = 1200
"""Projects of the domain campus: enough to need virtual tables."""

ACME, SCHOOL, CAMPUS, OPS = (f"d{number:031}" for number in range(1, 5))
SHOP, STAGING, ANALYTICS, LIBRARY, CLOUD = (f"a{number:031}" for number in range(1, 6))

UNREADABLE = [f"c{number:031}" for number in (PROJECTS - 2, PROJECTS - 1)]
"""Projects of campus of which storage answers nonsense: the scrape of it fails."""
OVERSPENT, OVERDRAWN = "lab-0004", "lab-0003"
"""One that uses cores without quota, and one that was given storage which its domain has not got."""

CLOUD_ADMIN, CLOUD_VIEWER, ACME_ADMIN = "cloud-admin", "cloud-viewer", "acme-admin"
SHOP_ADMIN, SHOP_MEMBER, ANALYTICS_ADMIN = "shop-admin", "shop-member", "analytics-admin"

_DOMAINS = {
    "acme": (ACME, {"shop": SHOP, "shop-staging": STAGING, "analytics": ANALYTICS}),
    "school": (SCHOOL, {"library": LIBRARY}),
    "campus": (CAMPUS, {f"lab-{number:04}": f"c{number:031}" for number in range(PROJECTS)}),
}
_GIB = 1024

# user: (domain, {token: (scope, roles)})
_USERS: dict[str, tuple[str, dict[str, tuple[dict[str, str], list[str]]]]] = {
    "Ruth": ("ops", {CLOUD_ADMIN: ({"project": "cloud"}, ["admin", "cloud_resource_admin"])}),
    "Victor": ("ops", {CLOUD_VIEWER: ({"project": "cloud"}, ["cloud_resource_viewer"])}),
    "Anna": (
        "acme",
        {
            ACME_ADMIN: ({"domain": "acme"}, ["resource_admin"]),
            ANALYTICS_ADMIN: ({"project": "analytics"}, ["admin", "member"]),
        },
    ),
    "Bert": ("acme", {SHOP_ADMIN: ({"project": "shop"}, ["admin", "member"])}),
    "Carla": ("acme", {SHOP_MEMBER: ({"project": "shop"}, ["member"])}),
}

_QUOTAS = [
    (f"/v1/domains/{ACME}", {"cores": 200, "ram": 400 * _GIB}, {"capacity": 5000}),
    (f"/v1/domains/{SCHOOL}", {"cores": 60, "ram": 100 * _GIB}, {"capacity": 1000}),
    (f"/v1/domains/{ACME}/projects/{SHOP}", {"cores": 40, "ram": 80 * _GIB}, {"capacity": 500}),
    (f"/v1/domains/{ACME}/projects/{ANALYTICS}", {"cores": 64, "ram": 200 * _GIB}, {"capacity": 2000}),
    (f"/v1/domains/{SCHOOL}/projects/{LIBRARY}", {"cores": 10, "ram": 20 * _GIB}, {"capacity": 100}),
]


class DashboardCloud:
    """A Limes API with the dashboard, on a database that a collector has filled, until its context ends."""

    def __init__(self, folder: Path, programs: Path, port: int | None = None, **settings: Any) -> None:
        """`settings` replace sections of the configuration. `limes` is one of the `programs`."""
        self.folder = folder
        self.url = f"http://127.0.0.1:{port or free_port()}"
        self._config = folder / "limes.yaml"
        self._config.write_text(yaml.safe_dump(_config(folder, self.url) | settings))
        self._env = {"LIMES_CONFIG": str(self._config)}
        self._limes = programs / "limes"
        self.process = ServerProcess(
            [self._limes, "api"], ready=http_answers(f"{self.url}/healthcheck"), log=folder / "api.log", env=self._env
        )

    def __enter__(self) -> "DashboardCloud":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stop()

    def start(self, *, fill: bool = True) -> "DashboardCloud":
        """Makes the database, lets the collector look once, starts the API and, with `fill`, sets quotas."""
        (self.folder / "storage.json").write_text(
            json.dumps({id_: {"capacity": {"quota": "many"}} for id_ in UNREADABLE})
        )
        self.limes("db", "upgrade")
        if fill:
            self.collect()
        self.process.start()
        for path, compute, storage in _QUOTAS if fill else ():
            self.put_quota(path, compute=compute, storage=storage)
        return self

    def collect(self) -> None:
        """Does what the collector has to do just now. It says 1 where scrapes fail, as those of UNREADABLE do."""
        self.limes("collect", "--once", statuses=(0, 1))

    def limes(self, *arguments: str, statuses: tuple[int, ...] = (0,)) -> None:
        """A command that has to succeed, or to end with one of `statuses`."""
        done = subprocess.run(
            [self._limes, *arguments], env={**os.environ, **self._env}, capture_output=True, text=True, timeout=120
        )
        assert done.returncode in statuses, done.stderr[-2000:]

    def put_quota(self, path: str, token: str = CLOUD_ADMIN, **services: dict[str, int]) -> None:
        """Sets quotas of a domain or project."""
        kind = "project" if "/projects/" in path else "domain"
        body = [
            {"type": service, "resources": [{"name": name, "quota": quota} for name, quota in resources.items()]}
            for service, resources in services.items()
        ]
        answer = self.request("PUT", path, token, json={kind: {"services": body}})
        assert answer.status_code == 202, answer.text

    def request(self, method: str, path: str, token: str = CLOUD_ADMIN, **options: Any) -> requests.Response:
        """Asks the API."""
        return requests.request(method, self.url + path, headers={"X-Auth-Token": token}, timeout=30, **options)

    def resource(self, path: str, service: str = "compute", name: str = "cores") -> Any:
        """What the API says of a resource of the domain or project at this path."""
        document = self.request("GET", f"{path}?service={service}&resource={name}").json()
        return (document.get("project") or document["domain"])["services"][0]["resources"][0]

    @contextmanager
    def silent_storage(self) -> Iterator[None]:
        """Meanwhile the backend of `storage` neither says nor takes anything."""
        path = self.folder / "storage.json"
        state = path.read_text()
        path.write_text("{")
        try:
            yield
        finally:
            path.write_text(state)

    @contextmanager
    def failing_capacitor(self, message: str) -> Iterator[None]:
        """Meanwhile the last attempt to ask for capacity has failed with this error; figures are two hours old."""
        columns = "scraped_at, checked_at, scrape_error"
        now = time.time()
        with sqlite3.connect(self.folder / "limes.db") as database:
            (before,) = database.execute(f"SELECT {columns} FROM capacitors").fetchall()
            database.execute(f"UPDATE capacitors SET ({columns}) = (?, ?, ?)", [now - 7200, now - 60, message])
        try:
            yield
        finally:
            with sqlite3.connect(self.folder / "limes.db") as database:
                database.execute(f"UPDATE capacitors SET ({columns}) = (?, ?, ?)", before)

    def commit_cores(self, domain_id: str, project_id: str, az: str, amount: int, duration: str = "1 hour") -> int:
        """Makes a commitment, confirmed at once, and returns its number."""
        wanted = {"service_type": "compute", "resource_name": "cores", "availability_zone": az, "amount": amount}
        path = f"/v1/domains/{domain_id}/projects/{project_id}/commitments/new"
        answer = self.request("POST", path, json={"commitment": {**wanted, "duration": duration}})
        assert answer.status_code == 201, answer.text
        return int(answer.json()["commitment"]["id"])

    def use_commitments(self, project_name: str, az: str, days: int, used: int) -> None:
        """Looks back: for so many days until now, so many cores were in use all day long."""
        ids = "SELECT p.id, r.id FROM projects p, resources r WHERE p.name = ? AND r.name = 'cores'"
        today = int(time.time()) // 86400
        with sqlite3.connect(self.folder / "limes.db") as database:
            (key,) = database.execute(ids, [project_name]).fetchall()
            database.executemany(
                "REPLACE INTO commitment_use (project_id, resource_id, az, day, looks, usage_sum, usage_min, usage_max,"
                " committed_sum) VALUES (?, ?, ?, ?, 1, ?, ?, ?, 0)",
                [[*key, az, day, used, used, used] for day in range(today - days + 1, today + 1)],
            )

    def forecast_cores(self, growth: float | None) -> None:
        """What the collector makes of 30 days in which the cores in use grew by so many a day; None: of no day yet."""
        now = int(time.time())
        hour = now - now % 3600
        with sqlite3.connect(self.folder / "limes.db") as database:
            database.execute(
                "INSERT OR IGNORE INTO growth_series (scope, service_type, resource_name, az)"
                " VALUES ('', 'compute', 'cores', '')"
            )
            database.execute("REPLACE INTO growth_state (id, sampled_at, trends_at) VALUES (1, ?, ?)", [now, now])
            ((id_,),) = database.execute(
                "SELECT id FROM growth_series WHERE resource_name = 'cores' AND scope = '' AND az = ''"
            )
            database.execute(
                "REPLACE INTO growth_hours (series_id, begins, usage, committed, capacity) VALUES (?, ?, 10, 0, 100)",
                [id_, hour],
            )
            trend = [None] * 4 if growth is None else [10, growth, growth / 2, growth * 2]
            database.execute(
                "REPLACE INTO growth_trends (series_id, computed_at, days, level, growth, lowest, highest)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [id_, now, 0 if growth is None else 30, *trend],
            )

    def set_usage(self, project_id: str, **usage: Any) -> None:
        """What the next scrape finds that a project uses of resources of `compute`."""
        path = self.folder / "compute.json"
        state = json.loads(path.read_text()) if path.exists() else {}
        for name, amount in usage.items():
            state.setdefault(project_id, {}).setdefault(name, {})["usage"] = amount
        path.write_text(json.dumps(state))


NewCloud = Callable[..., DashboardCloud]
"""What the fixture `new_cloud` gives."""


def _config(folder: Path, url: str) -> dict[str, Any]:
    return {
        "availability_zones": ["west-1", "west-2"],
        "database": {"url": f"sqlite:///{folder}/limes.db"},
        "api": {"listen": url.removeprefix("http://"), "workers": 1},
        "discovery": {"method": "static", "params": {"domains": _discovery_of(*_DOMAINS)}},
        "services": [_compute(folder), _storage(folder)],
        "commitments": {"conversions": [{"compute/cores": 4096, "compute/ram": 1}]},
        "capacitors": [{"id": "all", "type": "manual", "params": {"values": _CAPACITY}}],
        "resource_behavior": [
            {"resource": "compute/cores", "annotations": {"display_name": "Virtual cores"}},
            {
                "resource": "compute/(cores|ram)",
                "commitment_durations": ["1 hour", "1 year", "2 years"],
                "commitment_is_az_aware": True,
            },
            {"resource": "storage/capacity", "commitment_durations": ["1 year"]},
        ],
        "quota_distribution_configs": [
            {"resource": "storage/.*", "model": "hierarchical", "strict_domain_quota_limit": True}
        ],
        "identity": {"method": "sample", "sample": _sample()},
        "notifications": {
            "project_webhooks": {"allowed_hosts": ["localhost"], "allowed_networks": ["127.0.0.0/8", "::1/128"]}
        },
        "ui": {"title": "Test cloud"},
    }


_CAPACITY = {
    "compute": {"cores": {"west-1": 600, "west-2": 400}, "ram": {"west-1": 1200 * _GIB, "west-2": 800 * _GIB}},
    "storage": {"capacity": 50_000},
}


def _compute(folder: Path) -> dict[str, Any]:
    usage = {
        "shop": {
            "cores": {"usage": {"west-1": 15, "west-2": 5}},
            "ram": {"usage": {"west-1": 30 * _GIB, "west-2": 10 * _GIB}},
        },
        "analytics": {"cores": {"usage": {"west-1": 10, "west-2": 48}}, "ram": {"usage": {"west-2": 150 * _GIB}}},
        "library": {"cores": {"usage": {"west-1": 9}}, "ram": {"usage": {"west-1": 19 * _GIB}}},
        OVERSPENT: {"cores": {"usage": {"west-1": 3}}},
    }
    return {
        "service_type": "compute",
        "type": "static",
        "params": {
            "area": "compute",
            "state_file": str(folder / "compute.json"),
            "resources": {
                "cores": {"quota": 0, "usage": {"west-1": 0, "west-2": 0}},
                "ram": {"unit": "MiB", "quota": 0, "usage": {"west-1": 0, "west-2": 0}},
            },
            "projects": usage,
        },
    }


def _storage(folder: Path) -> dict[str, Any]:
    return {
        "service_type": "storage",
        "type": "static",
        "params": {
            "area": "storage",
            "state_file": str(folder / "storage.json"),
            "resources": {"capacity": {"unit": "GiB", "quota": 0, "usage": 0, "auto_approve_initial_quota": 7}},
            "projects": {
                "shop": {"capacity": {"usage": 120}},
                "analytics": {"capacity": {"usage": 1990}},
                OVERDRAWN: {"capacity": {"quota": 7}},
            },
        },
    }


def _discovery_of(*domains: str) -> list[dict[str, Any]]:
    """What the discovery finds, if there are only these domains."""
    return [
        {
            "id": domain_id,
            "name": name,
            "projects": [{"id": id_, "name": project, "parent_id": domain_id} for project, id_ in projects.items()],
        }
        for name, (domain_id, projects) in _DOMAINS.items()
        if name in domains
    ]


FEW_PROJECTS = {"discovery": {"method": "static", "params": {"domains": _discovery_of("acme", "school")}}}
"""A setting for clouds that need no domain with many projects."""


def _sample() -> dict[str, Any]:
    projects = [
        {"name": name, "id": id_, "domain": domain}
        for domain, (_, projects) in _DOMAINS.items()
        if domain != "campus"
        for name, id_ in projects.items()
    ]
    return {
        "own_token": CLOUD_ADMIN,
        "domains": [{"name": name, "id": id_} for name, (id_, _) in _DOMAINS.items()] + [{"name": "ops", "id": OPS}],
        "projects": [*projects, {"name": "cloud", "id": CLOUD, "domain": "ops"}],
        "users": [
            {"name": user, "domain": domain, "assignments": [{**scope, "roles": roles} for scope, roles in of.values()]}
            for user, (domain, of) in _USERS.items()
        ],
        "tokens": [
            {"token": token, "user": user, **scope}
            for user, (_, of) in _USERS.items()
            for token, (scope, _) in of.items()
        ],
    }
