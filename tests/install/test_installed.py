"""An installation of the wheel: commands, plugins, and all three processes."""

import json
import socket
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes import __version__
from tests.install.installation import Installation
from tests.support.processes import ServerProcess, free_port, http_answers

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def test_it_is_the_installed_one(installation: Installation) -> None:
    code = "import limes, limes_plugins; print(limes.__file__, limes_plugins.__file__)"
    found = subprocess.run(
        [installation.bin("python"), "-c", code],
        capture_output=True,
        text=True,
        env=installation.env,
        cwd=installation.folder,
    )
    assert [path.startswith(str(installation.folder)) for path in found.stdout.split()] == [True, True]


def test_the_version(installation: Installation) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert installation.run("--version").stdout == f"limes {__version__}\n"
    assert project["version"] == __version__


def test_plugins_are_found(installation: Installation) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = json.loads(installation.run("plugin", "list", "--json").stdout)["plugins"]
    assert {one["name"] for one in found} == set(project["entry-points"]["limes.backends"])
    assert all(one["offers"] for one in found), "each can be loaded"


@pytest.mark.parametrize("name", ["limes.yaml", "quickstart.yaml"])
def test_the_examples_can_be_used(installation: Installation, name: str) -> None:
    checked = subprocess.run(
        [installation.bin("limes"), "config", "check", "--config", installation.share / name],
        env={**installation.env, "LIMES_IDENTITY_PASSWORD": "x", "LIMES_AUDIT_RABBITMQ_PASSWORD": "x"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.fixture
def lab(installation: Installation, tmp_path: Path) -> tuple[Path, Any]:
    """The sample cloud as `limes config init --sample` writes it, on free ports."""
    made = installation.run("config", "init", "--sample", "quickstart.yaml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    (tmp_path / "var").mkdir()
    path = tmp_path / "quickstart.yaml"
    text = path.read_text()
    for port in ("8080", "8778", "8081"):
        text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free_port()}")
    path.write_text(text)
    return tmp_path, yaml.safe_load(text)


def only(env: dict[str, str]) -> dict[Any, Any]:
    """The environment of the installation; what of ours it has not is taken away."""
    return {**dict.fromkeys(("PYTHONPATH", "LIMES_CONFIG"), ""), **env}


def test_an_upgraded_api_tells_systemd_that_it_listens(installation: Installation, lab: tuple[Any, Any]) -> None:
    folder, document = lab
    upgraded = installation.run("db", "upgrade", "--config", "quickstart.yaml", cwd=folder)
    assert upgraded.returncode == 0, upgraded.stderr
    found = installation.run("doctor", "--config", "quickstart.yaml", "--json", "--only", "database", cwd=folder)
    assert (found.returncode, json.loads(found.stdout)["version"]) == (0, __version__), found.stdout
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(folder / "notify"))
        heard.settimeout(120)
        process = ServerProcess(
            [installation.bin("limes"), "api", "--config", "quickstart.yaml"],
            ready=http_answers(f"http://{document['api']['listen']}/healthcheck"),
            log=folder / "api.log",
            env={**only(installation.env), "NOTIFY_SOCKET": str(folder / "notify")},
            cwd=folder,
        )
        with process:
            assert b"READY=1" in heard.recv(1000)
            assert process.stop(30) == 0
