"""What an operator reads in `GET /v1/admin/scrape-errors` when a backend cannot be scraped, for every OpenStack plugin.

Each failure of each plugin is a service of one Limes, so one round of the collector meets them all.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from falcon import testing

from limes.app.api import create_app
from limes.app.composition.api import build_api
from limes.app.composition.collector import open_collector
from limes.app.settings import Settings
from limes.collector.runner import run_once
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.placement.migrations import placement_migrations
from tests.support.keystone import RealKeystone
from tests.support.recorded import Cut, RecordedService

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

PROJECTS = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210")
"""Projects that Limes knows and Keystone does not: they were deleted."""
INFO = {"version": 1, "resources": {"things": {"hasQuota": True}}}


@dataclass(frozen=True)
class Kind:
    """A plugin, and what it needs to work."""

    name: str
    """Of the product, in messages."""
    catalog_type: str
    path: str
    """Of a configured endpoint."""
    params: dict[str, Any] = field(default_factory=dict)
    has_versions: bool = False


KINDS = {
    "compute": Kind("Nova", "compute", "/v2.1", has_versions=True),
    "network": Kind("Neutron", "network", "/v2.0"),
    "loadbalancing": Kind("Octavia", "load-balancer", "/v2"),
    "dns": Kind("Designate", "dns", "/v2"),
    "object-store": Kind("Swift", "object-store", "/v1"),
    "volumev2": Kind("Cinder", "block-storage", "/v3", {"volume_types": ["fast"]}),
    "sharev2": Kind("Manila", "shared-file-system", "/v2", {"share_types": [{"name": "gold"}]}, has_versions=True),
    "placement": Kind("Placement", "placement", "", {"area": "compute", "resources": {"cores": "VCPU"}}, True),
    "liquid": Kind("liquid-things", "liquid-things", "", {"area": "x", "catalog_type": "liquid-things"}),
}
HTML = b"<!DOCTYPE html><html><head><title>Log in</title></head><body>secret-page</body></html>"
FORBIDDEN = {"forbidden": {"code": 403, "message": "Policy does not allow it"}}
GONE = {"itemNotFound": {"code": 404, "message": "Project could not be found"}}

FAILURES: dict[str, tuple[str, tuple[int, Any]]] = {
    "forbidden": ("application/json", (403, FORBIDDEN)),
    "gone": ("application/json", (404, GONE)),
    "half": ("application/json", (200, Cut({"quota": {"a": 1}, "servers": []}))),
    "html": ("text/html; charset=utf-8", (200, HTML)),
    "garbage": ("application/json", (200, b'{"quota": {"a": oops')),
}
"""What a backend answers to everything but the question for its versions: content type, status and document."""


def answering(answer: tuple[int, Any], content_type: str, newest: str | None = "99.0") -> RecordedService:
    """A service with microversions up to `newest` (None: it does not say), and one answer for everything else."""
    service = RecordedService({}, content_type=content_type)
    if newest is not None:
        for path in ("/?", "/v2.1/?", "/v2/?"):
            service.routes["GET", path] = lambda request: (200, {"version": versions(service, newest)})
    for method in ("GET", "HEAD", "POST", "PUT"):
        service.routes[method, ".*"] = lambda request: answer
    return service


def versions(service: RecordedService, newest: str) -> dict[str, Any]:
    """What an OpenStack service says of its API."""
    link = {"rel": "self", "href": service.url}
    return {"id": "v2.1", "status": "CURRENT", "version": newest, "min_version": "2.0", "links": [link]}


class Lab:
    """A Limes with one service for each failure, after one round of the collector."""

    def __init__(
        self, folder: Path, keystone: RealKeystone, services: Iterable[dict[str, Any]], user: str = "limes"
    ) -> None:
        """`user` is that of the collector."""
        url = f"sqlite:///{folder}/limes.db"
        projects = [{"id": one, "name": one[:4], "parent_id": "d1"} for one in PROJECTS]
        healthy = {"area": "storage", "resources": {"things": {"quota": 5, "usage": 2}}}
        document = {
            "availability_zones": ["az-one"],
            "database": {"url": url},
            "discovery": {
                "method": "static",
                "params": {"domains": [{"id": "d1", "name": "one", "projects": projects}]},
            },
            "services": [*services, {"service_type": "healthy", "type": "static", "params": healthy}],
        }

        def settings(login: dict[str, str]) -> Settings:
            identity = {"keystone": {**login, "region_name": "RegionOne"}}
            return Settings.model_validate({**document, "identity": identity}, context={"folder": folder})

        engine = Engine(url)
        limes_migrations.upgrade(engine)
        placement_migrations.upgrade(engine)
        engine.close()
        run_once(
            open_collector(settings(keystone.credentials(user, "munich" if user == "munich-member" else "service")))
        )
        self._client = testing.TestClient(create_app(build_api(settings(keystone.credentials("limes")))))
        self._headers = {"X-Auth-Token": keystone.project_token("operator", "service")}
        self.errors = {one["service_type"]: one for one in self._get("/v1/admin/scrape-errors")["scrape_errors"]}

    def _get(self, path: str) -> Any:
        answer = self._client.simulate_get(path, headers=self._headers)
        assert answer.status_code == 200, answer.text
        return answer.json

    def message(self, service_type: str) -> str:
        """What is wrong with a service, which is the same for both projects."""
        error = self.errors[service_type]
        assert error["affected_projects"] == len(PROJECTS)
        return str(error["message"].replace(error["project"]["id"], "{project_id}"))

    def scraped(self) -> dict[str, dict[str, int]]:
        """Usage by service, of those that could be scraped."""
        services = self._get(f"/v1/domains/d1/projects/{PROJECTS[0]}")["project"]["services"]
        return {
            service["type"]: {one["name"]: one["usage"] for one in service["resources"]}
            for service in services
            if "scraped_at" in service
        }


def failing_services(folder: Path, servers: dict[str, RecordedService]) -> Iterator[dict[str, Any]]:
    """Each plugin with each server, and with a catalog that does not have its service."""
    (folder / "info.json").write_text(json.dumps(INFO))
    for plugin, kind in KINDS.items():
        common = kind.params | ({"info_file": str(folder / "info.json")} if plugin == "liquid" else {})
        yield {"service_type": f"{plugin}-missing", "type": plugin, "params": common | {"region_name": "Atlantis"}}
        for failure, server in servers.items():
            if kind.has_versions or failure not in ("old", "mute"):
                found = {"endpoint": f"{server.url}{kind.path}", "auth": {"type": "token", "token": "secret-token"}}
                yield {"service_type": f"{plugin}-{failure}", "type": plugin, "params": common | found}


@pytest.fixture(scope="module")
def lab(keystone: RealKeystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    servers = {name: answering(answer, content_type) for name, (content_type, answer) in FAILURES.items()}
    servers["old"] = answering((406, {"errors": [{"detail": "unacceptable version"}]}), "application/json", "2.10")
    servers["mute"] = answering(FAILURES["html"][1], "text/html", None)
    yield Lab(folder, keystone, failing_services(folder, servers))
    for server in servers.values():
        server.close()


ELSEWHERE = "(is there something else behind the endpoint?)"
EXPECTED = {
    "missing": r"there is no service of type '{type}' in Keystone's catalog (interface public, region Atlantis):"
    " register its endpoint, or set another one in the params",
    "forbidden": "{name} refuses the user of Limes with 403: Policy does not allow it"
    " (look at the roles of this user, and at the policy of the service)",
    "gone": "{name} answered with 404: Project could not be found"
    " (was the project deleted, or is the path of the endpoint wrong?)",
    "half": "the connection was cut in the middle of {name}'s answer (look at its log, and at proxies in between)",
    "html": "{name}'s answer is text/html and not JSON " + ELSEWHERE,
    "garbage": "{name}'s answer is not JSON " + ELSEWHERE,
    "old": " (its release is too old for the plugin)",
    "mute": "(is this the endpoint of {name}, and does it answer?)",
}
"""How the messages end. What comes before says which request it was."""
NO_HEADER = "Swift's answer has no header X-Account-Bytes-Used " + ELSEWHERE
OTHERS = {
    # Swift answers with headers
    ("object-store", "forbidden"): EXPECTED["forbidden"].replace(": Policy does not allow it", ""),
    **{("object-store", failure): NO_HEADER for failure in ("half", "html", "garbage")},
    # the plugin asks for one version at once
    ("placement", "mute"): EXPECTED["html"],
}
HEALTHY = {("object-store", "gone")}
"""A project that has no Swift account uses nothing."""
CASES = [
    (plugin, failure)
    for plugin, kind in KINDS.items()
    for failure in EXPECTED
    if (kind.has_versions or failure not in ("old", "mute")) and (plugin, failure) not in HEALTHY
]


@pytest.mark.parametrize(("plugin", "failure"), CASES)
def test_a_failure_is_told_in_words_that_help(lab: Lab, plugin: str, failure: str) -> None:
    kind = KINDS[plugin]
    message = lab.message(f"{plugin}-{failure}")
    expected = OTHERS.get((plugin, failure), EXPECTED[failure]).format(name=kind.name, type=kind.catalog_type)
    assert message.endswith(expected)
    assert kind.name in message or kind.catalog_type in message
    assert len(message) < 300
    assert not re.search(rf"secret|Traceback|Exception|urllib|keystoneauth|{PROJECTS[0]}", message)


def test_the_other_backends_go_on(lab: Lab) -> None:
    assert lab.scraped() == {"healthy": {"things": 2}, "object-store-gone": {"capacity": 0, "containers": 0}}
    assert set(lab.errors) == {f"{plugin}-{failure}" for plugin, failure in CASES}


REAL = ("compute", "network", "object-store", "placement", "volumev2")


def real_services() -> Iterator[dict[str, Any]]:
    """Those that run here, found in Keystone's catalog."""
    return ({"service_type": plugin, "type": plugin, "params": KINDS[plugin].params} for plugin in REAL)


@pytest.mark.long
@pytest.mark.usefixtures("nova", "neutron", "cinder", "swift")
def test_real_services_refuse_a_user_without_the_role(keystone: RealKeystone, tmp_path: Path) -> None:
    lab = Lab(tmp_path, keystone, real_services(), "munich-member")
    assert set(lab.errors) == set(REAL)
    for plugin in REAL:
        message = lab.message(plugin)
        assert f"{KINDS[plugin].name} refuses the user of Limes with 403" in message
        assert message.endswith(" (look at the roles of this user, and at the policy of the service)")
    assert set(lab.scraped()) == {"healthy"}


@pytest.mark.long
@pytest.mark.usefixtures("nova", "neutron", "cinder", "swift")
def test_real_services_and_a_project_that_was_deleted(keystone: RealKeystone, tmp_path: Path) -> None:
    lab = Lab(tmp_path, keystone, real_services())
    assert lab.message("compute") == (
        "GET /os-quota-sets/{project_id}/detail: Nova answered with 400: Project ID {project_id} is not a valid project."
    )
    # the others don't ask Keystone when they are asked for a quota
    assert set(lab.scraped()) == {"healthy", *REAL} - {"compute"}
