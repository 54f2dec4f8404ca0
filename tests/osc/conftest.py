"""The small cloud of `tests.api.world` behind a real gunicorn, and openstackclient in front of it.

One server for all tests; each test finds the cloud as it was at the beginning.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from limes.app.models import MODELS
from limes.catalog.catalog import Catalog
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.growth.sample import sample_growth
from limes.lifetimes.models import LifetimeProject, SubresourceLifetime
from limes.metering.close import close_days
from tests.api.server import serve
from tests.api.world import BERLIN, DRESDEN, GERMANY, SERVICES, fill_cloud
from tests.commitments.commitments import CORES, NOW
from tests.osc.client import OpenStackClient, User
from tests.support.clock import FrozenClock
from tests.support.databases import Databases, PostgresDatabases, SQLiteDatabases
from tests.support.limes import make_limes

_KEPT = {"services", "capacitors", "resources", "commitment_event_counter", "jobs"}
"""Tables that the server has filled from its configuration, and counters."""


@dataclass(frozen=True)
class Cloud:
    """A running Limes, and its database."""

    url: str
    engine: Engine

    def reset(self) -> None:
        """Puts everything back as it was."""

        def again() -> None:
            for model in reversed(MODELS):
                if model._meta.table_name not in _KEPT:
                    self.engine.execute(f"DELETE FROM {model._meta.table_name}", [])
            fill_cloud(self.engine)

        self.engine.atomic(again)

    def add_capacity(self) -> None:
        """20 GiB of volumes in az-one, of which nothing is there otherwise."""
        self.engine.execute(
            "INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
            " SELECT id, 'az-one', 20, '[]' FROM resources WHERE name = 'capacity'",
            [],
        )

    def add_lifetimes(self) -> None:
        """A server in berlin that was resized yesterday, and one in dresden."""
        now, day = NOW, 86400

        def work() -> None:
            for id_, uuid, name in ((1, BERLIN, "berlin"), (2, DRESDEN, "dresden")):
                self.engine.write(
                    LifetimeProject.insert(id=id_, uuid=uuid, name=name, domain_uuid=GERMANY, domain_name="germany")
                )
            for project, flavor, began, ended in (
                (1, "small", now - 3 * day, now - day),
                (1, "big", now - day, None),
                (2, "small", now - day, None),
            ):
                self.engine.write(
                    SubresourceLifetime.insert(
                        project=project, service_type="compute", resource_name="cores", az="az-one",
                        subresource_id=f"9c1f0a52-4f2a-4f53-8c11-0d8f6a2b1c3{project}", name=f"web-{project}",
                        attributes=f'{{"flavor":"{flavor}"}}', first_seen_at=now - 3 * day, began_at=began,
                        last_seen_at=ended, ended_at=ended,
                    )
                )  # fmt: skip

        self.engine.atomic(work)

    def ask(self, method: str, path: str, body: Any, token: str = "cloud-admin") -> requests.Response:
        """A request without the client."""
        url, headers = f"{self.url}/v1/domains/{GERMANY}{path}", {"X-Auth-Token": token}
        answer = requests.request(method, url, json=body, headers=headers, timeout=200)
        assert answer.ok, answer.text
        return answer

    def set_cores(self, level: str, path: str, cores: int) -> None:
        """Sets one quota of germany, or of a project in it."""
        services = [{"type": "compute", "resources": [{"name": "cores", "quota": cores}]}]
        self.ask("PUT", path, {level: {"services": services}})

    def post(self, path: str, **commitment: Any) -> dict[str, Any]:
        """POSTs to berlin's commitments. Answers the commitment."""
        answer = self.ask("POST", f"/projects/{BERLIN}/commitments/{path}", {"commitment": commitment})
        made: dict[str, Any] = answer.json()["commitment"]
        return made

    def request_cores(self, cores: int, token: str = "cloud-admin") -> int:
        """Requests so many for berlin. Answers the request's number."""
        services = [{"type": "compute", "resources": [{"name": "cores", "quota": cores}]}]
        body = {"quota_request": {"reason": "launch", "services": services}}
        answer = self.ask("POST", f"/projects/{BERLIN}/quota-requests", body, token)
        number: int = answer.json()["quota_request"]["id"]
        return number

    def meter(self) -> None:
        """Has metering begin ten days ago; everything was scraped just now, and used the same all the time."""
        clock = FrozenClock()
        self.engine.execute("UPDATE project_services SET scraped_at = %s", [clock.now().timestamp()])
        clock.advance(-10 * 86400)
        close_days(make_limes(self.engine, Catalog(["az-one"], []), clock=clock))

    def grow(self, days: int = 10) -> None:
        """Has the cores of berlin grow from 5 by one a day, for so many days until now."""
        clock = FrozenClock()
        clock.advance(-days * 86400)
        catalog = Catalog(["az-one", "az-two"], SERVICES)
        limes = make_limes(self.engine, catalog, clock=clock)
        for day in range(days + 1):
            is_cores = "project_id = 1 AND resource_id = (SELECT id FROM resources WHERE name = 'cores')"
            self.engine.execute(f"UPDATE project_resources SET usage = %s WHERE {is_cores}", [5 + day])
            sample_growth(limes)
            clock.advance(86400)

    def commit(self, **fields: Any) -> dict[str, Any]:
        """10 cores in az-one for an hour, or what is said otherwise."""
        return self.post("new", **(CORES | fields))


@contextlib.contextmanager
def served(databases: Databases, folder: Path, **env: str) -> Iterator[Cloud]:
    """A server with a database of its own."""
    url = databases.migrated(limes_migrations)
    port, process = serve(url, folder, **env)
    with process:
        engine = Engine(url)
        yield Cloud(f"http://127.0.0.1:{port}", engine)
        engine.close()


on_both_databases = pytest.mark.parametrize(
    "running_cloud",
    ["sqlite", pytest.param("postgresql", marks=[pytest.mark.postgresql, pytest.mark.again])],
    indirect=True,
    scope="session",
)
"""For some tests; for the others SQLite will do, as commands see HTTP only."""


@pytest.fixture(scope="session")
def running_cloud(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _sqlite_templates: Path
) -> Iterator[Cloud]:
    """The server, for the whole session."""
    folder = tmp_path_factory.mktemp("cloud")
    databases: Databases = SQLiteDatabases(folder, _sqlite_templates)
    if getattr(request, "param", "sqlite") == "postgresql":
        postgres, templates = (request.getfixturevalue(name) for name in ("postgres", "_postgres_templates"))
        databases = PostgresDatabases(postgres, templates)
    with served(databases, folder) as cloud:
        yield cloud
    databases.drop_all()


@pytest.fixture
def cloud(running_cloud: Cloud) -> Cloud:
    """The small cloud, as it was at the beginning."""
    running_cloud.reset()
    return running_cloud


@pytest.fixture(scope="session")
def openstack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenStackClient]:
    """The program, for commands without a terminal."""
    client = OpenStackClient(tmp_path_factory.mktemp("home"))
    yield client
    client.stop()


Login = Callable[..., User]


@pytest.fixture
def login(cloud: Cloud, openstack: OpenStackClient) -> Login:
    """`login("berlin-admin")` gives the user of that sample token."""

    def with_token(token: str, **env: str) -> User:
        credentials = {"OS_AUTH_TYPE": "admin_token", "OS_ENDPOINT": cloud.url, "OS_TOKEN": token}
        return User(openstack, credentials | env)

    return with_token


@pytest.fixture
def admin(login: Login) -> User:
    return login("cloud-admin")


@pytest.fixture
def berlin(login: Login) -> User:
    return login("berlin-admin")


@pytest.fixture
def germany(login: Login) -> User:
    return login("germany-admin")


@pytest.fixture
def dresden(login: Login) -> User:
    return login("dresden-admin")


@pytest.fixture
def member(login: Login) -> User:
    return login("berlin-member")
