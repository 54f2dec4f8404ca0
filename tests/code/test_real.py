"""The real components start, answer, and are gone afterwards."""

import sys
import time
from pathlib import Path

import pytest
import requests

from tests.support.databases import UrlFactory
from tests.support.keystone import RealKeystone
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.upstream_placement import PlacementFactory, UpstreamPlacement

LONG = pytest.mark.long
"""Whatever else starts these servers shows the same."""


@LONG
def test_keystone_is_seeded(keystone: RealKeystone) -> None:
    token = keystone.project_token("berlin-admin", "berlin")
    answer = keystone.api.get("/auth/tokens", headers={"X-Subject-Token": token}).json()["token"]
    assert answer["project"]["name"] == "berlin"
    assert {role["name"] for role in answer["roles"]} >= {"resource_admin", "member", "reader"}
    assert {"resources", "placement", "identity"} <= {service["type"] for service in answer["catalog"]}


@LONG
def test_projects_can_come_and_go(keystone: RealKeystone) -> None:
    project_id = keystone.create_project("rostock", "north", parent="berlin")
    assert keystone.api.get(f"/projects/{project_id}").json()["project"]["parent_id"] == keystone.ids.projects["berlin"]
    keystone.delete_project("rostock")
    assert keystone.api.get(f"/projects/{project_id}", raise_exc=False).status_code == 404


@LONG
def test_a_copied_keystone_can_be_stopped(keystone: RealKeystone, own_keystone: RealKeystone) -> None:
    token = keystone.project_token("berlin-admin", "berlin")
    assert own_keystone.api.get("/auth/tokens", headers={"X-Subject-Token": token}).status_code == 200
    own_keystone.server.process.stop()
    with pytest.raises(requests.ConnectionError):
        requests.get(own_keystone.url, timeout=200)
    assert requests.get(keystone.url, timeout=200).status_code == 200


@LONG
def test_placement_without_keystone(upstream_placement: UpstreamPlacement) -> None:
    url = f"{upstream_placement.url}/resource_providers"
    assert requests.get(url, timeout=30).status_code == 401
    assert "resource_providers" in requests.get(url, headers={"X-Auth-Token": "admin"}, timeout=30).json()


@LONG
def test_placement_with_keystone(upstream_placement_with_keystone: UpstreamPlacement, keystone: RealKeystone) -> None:
    url = f"{upstream_placement_with_keystone.url}/resource_providers"
    assert requests.get(url, headers={"X-Auth-Token": "admin"}, timeout=30).status_code == 401
    token = keystone.project_token("limes", "service")
    assert requests.get(url, headers={"X-Auth-Token": token}, timeout=30).status_code == 200


@LONG
def test_placement_on_postgresql(
    upstream_placement_factory: PlacementFactory, postgres_url_factory: UrlFactory
) -> None:
    placement = upstream_placement_factory(database_url=postgres_url_factory())
    answer = requests.get(f"{placement.url}/resource_providers", headers={"X-Auth-Token": "admin"}, timeout=30)
    assert answer.json() == {"resource_providers": []}
    placement.process.stop()


def test_a_server_that_ends_shows_its_log(tmp_path: Path) -> None:
    program = "import sys; print('the reason'); sys.exit(3)"
    server = ServerProcess([sys.executable, "-c", program], ready=lambda: False, log=tmp_path / "log")
    with pytest.raises(AssertionError, match=r"(?s)ended with code 3.*the reason"):
        server.start()


def test_a_server_that_never_answers_is_stopped(tmp_path: Path) -> None:
    program = "import time; print('waiting', flush=True); time.sleep(60)"
    log, answers = tmp_path / "log", http_answers(f"http://127.0.0.1:{free_port()}")

    def ready() -> bool:
        while "waiting" not in log.read_text():
            time.sleep(0.01)
        return answers()

    server = ServerProcess([sys.executable, "-c", program], ready=ready, log=log, timeout=1)
    with pytest.raises(AssertionError, match=r"(?s)did not answer within 1 s.*waiting"):
        server.start()
    assert not server.is_running()
