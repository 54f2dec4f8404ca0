"""The same calls of real clients, with and without Keystone: ours answers what upstream answers."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.placement.conformance.servers import make_database, running_server
from tests.support.keystone import RealKeystone
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv
from tests.support.upstream_placement import UpstreamPlacement

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).parent / "clients" / "allocation_calls.py"


def answers(venv: RealVenv, login: dict[str, Any]) -> dict[str, Any]:
    """What the clients got."""
    command = [venv.bin("python"), "-W", "ignore", SCRIPT, json.dumps(login)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def check(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Compares everything; what a command says about an error is for people, so there the HTTP status counts."""
    grouped = [found for command, _, found in ours["commands"] if "1.39 resource usage show" in command]
    assert "MIGRATION" in grouped[0]
    for (command, our_status, found), (_, status, expected) in zip(
        ours.pop("commands"), theirs.pop("commands"), strict=True
    ):
        assert our_status == status, f"{command}\n{expected}\n{found}"
        if status:
            assert http_statuses(found) == http_statuses(expected) != [], f"{command}\n{expected}\n{found}"
        else:
            assert json.loads(found) == json.loads(expected), command
    assert ours == theirs
    assert ours["stale"] == ours["too old"] == ["ConflictException", 409]
    assert ours["allocation"]["consumer_type"] == "INSTANCE"
    assert ours["left"] == []


def http_statuses(output: str) -> list[str]:
    """Those of the error messages."""
    return re.findall(r"HTTP (\d+)", output)


def without_keystone(url: str) -> dict[str, Any]:
    """The login that upstream's `noauth2` and our `noauth` take for an administrator's."""
    return {
        "sdk": {"auth_type": "admin_token", "auth": {"endpoint": url, "token": "admin"}},
        "osc": ["--os-auth-type", "admin_token", "--os-token", "admin", "--os-endpoint", url],
    }


def with_keystone(keystone: RealKeystone) -> dict[str, Any]:
    """A user with the role `admin`; the address comes from the catalog."""
    login = keystone.credentials("operator")
    options = [part for key, value in login.items() for part in (f"--os-{key.replace('_', '-')}", value)]
    return {
        "sdk": {"auth_type": "password", "auth": login, "region_name": "RegionOne"},
        "osc": [*options, "--os-identity-api-version", "3"],
    }


@pytest.mark.timeout(600)
def test_without_keystone(
    real_venv: RealVenv, upstream_placement: UpstreamPlacement, database_url: str, tmp_path: Path
) -> None:
    theirs = answers(real_venv, without_keystone(upstream_placement.url))
    make_database(database_url)
    with running_server(database_url, tmp_path) as url:
        check(answers(real_venv, without_keystone(url)), theirs)


@pytest.fixture
def our_placement_in_the_catalog(
    keystone: RealKeystone, upstream_placement_with_keystone: UpstreamPlacement, database_url: str, tmp_path: Path
) -> Iterator[Any]:
    """`limes placement` with Keystone, started on demand: calling what it gives puts it into the catalog."""
    make_database(database_url)
    login = keystone.credentials("placement")
    password = login.pop("password")
    address = f"127.0.0.1:{free_port()}"
    document = {
        "availability_zones": ["az-one"],
        "discovery": {"method": "list"},
        "services": [
            {"service_type": "x", "type": "static", "params": {"area": "x", "resources": {"y": {"usage": 0}}}}
        ],
        "database": {"url": database_url},
        "placement": {"listen": address, "workers": 1},
        "identity": {"keystone": login},
    }
    config = tmp_path / "limes.yaml"
    config.write_text(yaml.safe_dump(document))
    process = ServerProcess(
        [sys.executable, "-m", "limes", "placement", "--config", config],
        ready=http_answers(f"http://{address}/healthcheck"),
        log=tmp_path / "placement.log",
        env={"LIMES_IDENTITY_PASSWORD": password, "PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}"},
    )
    with process:
        yield lambda: keystone.set_endpoint("placement", f"http://{address}")
    keystone.set_endpoint("placement", upstream_placement_with_keystone.url)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_with_keystone(real_venv: RealVenv, keystone: RealKeystone, our_placement_in_the_catalog: Any) -> None:
    theirs = answers(real_venv, with_keystone(keystone))
    our_placement_in_the_catalog()
    check(answers(real_venv, with_keystone(keystone)), theirs)
