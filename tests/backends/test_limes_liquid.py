"""`limes liquid` as a real process, asked by our own plugin `liquid` and by hand."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from limes.backends import AZCapacity, CapacityBackend, DomainInfo, ProjectInfo, QuotaBackend, calls
from limes.backends.contract import CapacityBackendContract
from limes.catalog.catalog import Catalog, ServiceDef
from tests.backends.conftest import AZS, load_capacity, load_quota
from tests.backends.quota_cases import QuotaCases, report
from tests.support.processes import ServerProcess, free_port, http_answers

ROOT = Path(__file__).parents[2]
PROJECT = ProjectInfo("p1", "alpha", "d1", DomainInfo("d1", "one"))
METADATA = {"uuid": "p1", "name": "alpha", "domain": {"uuid": "d1", "name": "one"}}


def configuration(folder: Path) -> dict:
    resources = {
        "capacity": {"unit": "GiB", "quota": "unlimited", "usage": {AZS[0]: 20, "elsewhere": 5}, "category": "disks"},
        "objects": {"quota": 100, "usage": 7},
        "files": {"usage": 3},
    }
    nothing = {name: {"usage": 0} for name in resources}
    params = {"area": "storage", "resources": resources, "state_file": str(folder / "state.json")}
    return {
        "availability_zones": list(AZS),
        "discovery": {
            "method": "static",
            "params": {"domains": [{"id": "d1", "name": "one", "projects": [{"id": "p1", "name": "alpha", "parent_id": "d1"}]}]},
        },
        "services": [
            {"service_type": "storage", "type": "static", "params": params | {"projects": {"p-new": nothing}}},
            {"service_type": "other", "type": "static", "params": {"area": "x", "resources": {"things": {"usage": 1}}}},
        ],
        "capacitors": [
            {"id": "shelf", "type": "manual", "params": {"values": {"storage": {"capacity": {AZS[0]: 100, AZS[1]: 50}, "objects": 1000}}}},
            {"id": "elsewhere", "type": "manual", "params": {"values": {"other": {"things": 5}}}},
        ],
        "liquid": {"workers": 2},
        "identity": {
            "method": "sample",
            "sample": {
                "domains": [{"name": "default"}],
                "projects": [{"name": "service", "domain": "default"}],
                "users": [
                    {"name": "limes", "domain": "default", "assignments": [{"project": "service", "roles": ["service"]}]},
                    {"name": "member", "domain": "default", "assignments": [{"project": "service", "roles": ["member"]}]},
                ],
                "tokens": [
                    {"token": "limes-token", "user": "limes", "project": "service"},
                    {"token": "member-token", "user": "member", "project": "service"},
                ],
            },
        },
    }  # fmt: skip


def command(file: Path, *arguments: str) -> list[str | Path]:
    return [sys.executable, "-m", "limes", "liquid", *arguments, "--config", file]


ENVIRONMENT = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins")])}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("liquid")
    file = folder / "limes.yaml"
    file.write_text(yaml.safe_dump(configuration(folder)))
    listen = f"127.0.0.1:{free_port()}"
    process = ServerProcess(
        command(file, "storage", "--listen", listen),
        ready=http_answers(f"http://{listen}/healthcheck"),
        log=folder / "liquid.log",
        env=ENVIRONMENT,
    )
    with process:
        yield f"http://{listen}"


@pytest.fixture
def connection(url: str) -> dict[Any, Any]:
    return {"endpoint": url, "auth": {"type": "token", "token": "limes-token"}}


class TestThroughThePlugin(QuotaCases):
    @pytest.fixture
    def backend(self, connection: dict[Any, Any]) -> QuotaBackend:
        return load_quota("liquid", {"area": "storage", **connection}, name="storage").quota["storage"]

    @pytest.fixture
    def broken_backend(self, connection: dict[Any, Any], tmp_path: Path) -> QuotaBackend:
        info = str(tmp_path / "info.json")
        load_quota("liquid", {"area": "storage", "info_file": info, **connection}, name="storage").quota[
            "storage"
        ].describe()
        gone = {"area": "storage", "info_file": info, **connection, "endpoint": f"http://127.0.0.1:{free_port()}"}
        return load_quota("liquid", gone, name="storage").quota["storage"]

    def test_it_is_the_same_service(self, service: ServiceDef, backend: QuotaBackend) -> None:
        resources = service.resources
        assert {name: (one.unit, one.category, one.tracks_quota, one.az_aware) for name, one in resources.items()} == {
            "capacity": ("GiB", "disks", True, True),
            "objects": ("", "", True, False),
            "files": ("", "", False, False),
        }
        usage = report(backend, PROJECT)
        amounts = {name: {az: found.usage for az, found in one.per_az.items()} for name, one in usage.items()}
        assert amounts == {
            "capacity": {"any": 0, AZS[0]: 20, AZS[1]: 0, "unknown": 5},
            "objects": {"any": 7},
            "files": {"any": 3},
        }


class TestCapacityThroughThePlugin(CapacityBackendContract):
    @pytest.fixture
    def backend(self, connection: dict[Any, Any]) -> CapacityBackend:
        return load_capacity("liquid", {"service": "storage", **connection}).capacity["under-test"]

    @pytest.fixture
    def catalog(self, connection: dict[Any, Any]) -> Catalog:
        quota = load_quota("liquid", {"area": "storage", **connection}, name="storage").quota["storage"]
        return Catalog(AZS, [quota.describe()])

    def test_capacity(self, backend: CapacityBackend, catalog: Catalog) -> None:
        assert calls.report_capacity(backend, "under-test", catalog).services == {
            "storage": {
                "capacity": {AZS[0]: AZCapacity(100), AZS[1]: AZCapacity(50)},
                "objects": {"any": AZCapacity(1000)},
            }
        }
        assert sorted(backend.resources()) == [("storage", "capacity"), ("storage", "objects")]


ROUTES = [
    ("GET", "/v1/info", None),
    ("POST", "/v1/report-capacity", {"allAZs": list(AZS)}),
    ("POST", "/v1/projects/p1/report-usage", {"allAZs": list(AZS), "projectMetadata": METADATA}),
    (
        "PUT",
        "/v1/projects/p1/quota",
        {"resources": {"capacity": {"quota": 5}, "objects": {"quota": 5}}, "projectMetadata": METADATA},
    ),
]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
@pytest.mark.parametrize(
    ("token", "expected"), [(None, 401), ("nobody", 401), ("member-token", 403), ("limes-token", 200)]
)
def test_who_may_do_what(
    url: str, method: str, path: str, body: dict[str, Any] | None, token: str | None, expected: int
) -> None:
    headers = {} if token is None else {"X-Auth-Token": token}
    answer = requests.request(method, url + path, json=body, headers=headers, timeout=30)
    assert answer.status_code == (204 if method == "PUT" and expected == 200 else expected), answer.text
    assert answer.headers["x-openstack-request-id"].startswith("req-")
    if expected == 401:
        assert answer.text == "Unauthorized\n"


@pytest.mark.parametrize("path", ["/v1/info", "/healthcheck", "/metrics"])
def test_head(url: str, path: str) -> None:
    answer = requests.head(url + path, headers={"X-Auth-Token": "limes-token"}, timeout=30)
    assert (answer.status_code, answer.content) == (200, b"")


def test_all_workers_say_the_same_version(url: str) -> None:
    headers = {"X-Auth-Token": "limes-token"}
    found = {requests.get(f"{url}/v1/info", headers=headers, timeout=30).json()["version"] for _ in range(20)}
    assert len(found) == 1


def test_a_name_of_nearly_a_megabyte_is_not_repeated(url: str) -> None:
    text = "x" * 1_000_000
    for path, body in (
        ("quota", {"resources": {text: {"quota": 1}}, "projectMetadata": METADATA}),
        ("quota", {"resources": {"capacity": {"quota": text}}, "projectMetadata": METADATA}),
        ("report-usage", {"allAZs": list(AZS), "projectMetadata": METADATA | {"uuid": text}}),
    ):
        method = "PUT" if path == "quota" else "POST"
        headers = {"X-Auth-Token": "limes-token"}
        answer = requests.request(method, f"{url}/v1/projects/p1/{path}", json=body, headers=headers, timeout=30)
        assert answer.status_code in (400, 422), answer.text[:300]
        assert len(answer.content) < 5_000


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/v1/projects/p1/report-usage", {"allAZs": list(AZS)}, 400, "projectMetadata: is needed here"),
        ("/v1/projects/p2/report-usage", {"allAZs": [], "projectMetadata": METADATA}, 400, "is 'p1', but the path says 'p2'"),
        ("/v1/projects/p1/report-usage", {"projectMetadata": METADATA}, 400, "allAZs: Field required"),
        ("/v1/projects/p1/quota", {"resources": {}, "projectMetadata": METADATA}, 422, "capacity: is missing; objects: is missing"),
        (
            "/v1/projects/p1/quota",
            {"resources": {"capacity": {"quota": -1}}, "projectMetadata": METADATA},
            400,
            "resources.capacity.quota: Input should be greater than or equal to 0",
        ),
        (
            "/v1/projects/p1/quota",
            {
                "resources": {"capacity": {"quota": 1}, "objects": {"quota": 1}, "files": {"quota": 1}},
                "projectMetadata": METADATA,
            },
            422,
            "files: has no quota here",
        ),
        ("/v1/report-capacity", [], 400, "document: expected an object"),
        (
            "/v1/report-capacity",
            {"allAZs": [], "demandByResource": {"capacity": {"perAZ": {AZS[0]: {"usage": -1}}}}},
            400,
            f"demandByResource.capacity.perAZ.{AZS[0]}.usage: Input should be greater than or equal to 0",
        ),
    ],
)  # fmt: skip
def test_bad_requests(url: str, path: str, body: list[Any] | dict[str, Any], status: int, message: str) -> None:
    method = "PUT" if path.endswith("quota") else "POST"
    answer = requests.request(method, url + path, json=body, headers={"X-Auth-Token": "limes-token"}, timeout=30)
    assert (answer.status_code, message in answer.text) == (status, True), answer.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["storage", "--listen", "0.0.0.0:1234"], "identity.method is 'sample', which lets anybody in"),
        pytest.param(
            ["nothing"],
            "there is no service of type 'nothing' under services (there are: other, storage)",
            marks=pytest.mark.long,
        ),
        pytest.param(["storage", "--listen", "nowhere"], "--listen nowhere", marks=pytest.mark.long),
    ],
)
def test_it_refuses_to_start(tmp_path: Path, arguments: list[str], message: str) -> None:
    file = tmp_path / "limes.yaml"
    file.write_text(yaml.safe_dump(configuration(tmp_path)))
    done = subprocess.run(
        command(file, *arguments), env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, timeout=200
    )
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
