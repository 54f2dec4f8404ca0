"""Real clients get from ours what they get from upstream: osc-placement, openstacksdk, and nova's report client."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.placement.conformance.servers import make_database, running_server
from tests.support.levels import few_of
from tests.support.real import RealVenv
from tests.support.upstream_placement import UpstreamPlacement

CLIENTS = Path(__file__).parent / "clients"
_REQUEST_ID = re.compile(r"req-[0-9a-f-]{36}")


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.postgresql, pytest.mark.again])]
)
def our_placement(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("placement")
    database_url = f"sqlite:///{folder}/placement.db"
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        database_url = server.url(server.create_database())
    make_database(database_url)
    with running_server(database_url, folder) as url:
        yield url


def answers(venv: RealVenv, script: str, url: str) -> Any:
    done = subprocess.run(
        [venv.bin("python"), "-W", "ignore", CLIENTS / script, url], capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.timeout(400)
def test_openstack_client(real_venv: RealVenv, upstream_placement: UpstreamPlacement, our_placement: str) -> None:
    """Takes some seconds: each command is a process of its own."""
    theirs = answers(real_venv, "osc_commands.py", upstream_placement.url)
    ours = answers(real_venv, "osc_commands.py", our_placement)
    for (command, status, expected), (_, our_status, found) in zip(theirs, ours, strict=True):
        assert our_status == status, f"{command}\n{expected}\n{found}"
        if status == 0:
            assert comparable(found) == comparable(expected), command
        else:
            assert _http_status(found), f"{command}\n{expected}\n{found}"
            assert _http_status(found) == _http_status(expected), command
    assert sum(status == 0 for _, status, _ in ours) >= 35


@pytest.mark.timeout(400)
@pytest.mark.parametrize("script", few_of(["sdk_calls.py", "nova_report_client.py"], 1))
def test_libraries(script: str, real_venv: RealVenv, upstream_placement: UpstreamPlacement, our_placement: str) -> None:
    theirs = answers(real_venv, script, upstream_placement.url)
    assert answers(real_venv, script, our_placement) == theirs


def comparable(output: str) -> Any:
    """The document, with lists in an order of their own and without the entries of other tests' names."""
    try:
        document = json.loads(output)
    except ValueError:
        return _REQUEST_ID.sub("", output)
    if isinstance(document, list):
        others = [one for one in document if isinstance(one, dict) and str(one.get("name", "")).startswith("CUSTOM_")]
        mine = [one for one in document if one not in others or "OSC" in one["name"]]
        return sorted(mine, key=repr)
    return document


def _http_status(output: str) -> list[str]:
    return re.findall(r"HTTP (\d+)", output)
