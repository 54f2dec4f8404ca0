"""Each command in each of its formats, and what openstackclient itself asks of commands: help and completion."""

import csv
import io
import json
import subprocess
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml
from limes_osc.base import LimesLister, LimesShowOne

from tests.osc.client import OpenStackClient
from tests.osc.conftest import Login

ROOT = Path(__file__).parents[2]
COMMANDS = {one.name.replace("_", " "): one for one in entry_points(group="openstack.limes.v1")}

READING = {
    "limes cluster show": "",
    "limes domain list": "",
    "limes domain show": "germany",
    "limes domain simulate": "germany --set compute/cores=+1",
    "limes domain explain": "germany",
    "limes domain history": "germany",
    "limes domain discover": "",
    "limes project list": "--domain germany",
    "limes project show": "berlin",
    "limes project simulate": "berlin --set compute/ram=+1GiB",
    "limes project explain": "berlin",
    "limes project history": "berlin",
    "limes project discover": "--domain germany",
    "limes inconsistency list": "",
    "limes scrape error list": "",
}
"""The commands with a table, and arguments with which they succeed in the small cloud."""


def test_all_are_here():
    shown = {name for name, one in COMMANDS.items() if issubclass(one.load(), LimesLister | LimesShowOne)}
    assert set(READING) == shown


@pytest.mark.parametrize("command", READING)
def test_formats(login: Login, command: str):
    admin = login("cloud-admin")
    words = f"{command.removeprefix('limes ')} {READING[command]}"
    document = admin.json(words)
    assert yaml.safe_load(admin.must(f"{words} -f yaml")) == document
    listed = issubclass(COMMANDS[command].load(), LimesLister)
    people = admin.must(words)
    raw = admin.must(f"{words} -f value")
    if listed:
        rows = list(csv.DictReader(io.StringIO(admin.must(f"{words} -f csv"))))
        assert [list(row) for row in rows] == [list(row) for row in document]
        assert len(raw.splitlines()) == len(rows)
        assert people.count("\n|") == (len(document) + 1 if document else 0)
    else:
        assert len(raw.splitlines()) == len(document)
        assert admin.must(f"{words} -f shell").count('="') == len(document)
    assert json.dumps(document).count("object at 0x") == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_help(openstack: OpenStackClient, command: str):
    said = " ".join(openstack.run(f"{command} --help", {}).out.split())
    assert f"usage: openstack {command}" in said
    assert COMMANDS[command].load().__doc__ in said


_PRESS_TAB = """
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cur="${COMP_WORDS[COMP_CWORD]}"; prev="${COMP_WORDS[COMP_CWORD-1]}"; }
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_openstack
echo "${COMPREPLY[@]}"
"""


def test_completion_in_bash(openstack: OpenStackClient, tmp_path: Path):
    script = tmp_path / "openstack.bash"
    script.write_text(openstack.run("complete", {}).out)

    def offered(*typed: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", _PRESS_TAB, "bash", script, "openstack", *typed], capture_output=True, text=True, timeout=30
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert offered("lime") == ["limes"]
    for command in COMMANDS:
        *head, last = command.split()
        assert last in offered(*head, last[:2])
    assert "--per-az" in offered("limes", "project", "show", "--per")


def test_every_command_is_in_the_docs():
    page = (ROOT / "docs" / "openstack-client.md").read_text()
    assert [name for name in COMMANDS if f"`{name}" not in page] == []
    assert [
        option for option in ("endpoint", "domain", "project", "api-version") if f"--os-limes-{option}" not in page
    ] == []


def test_declared_and_installed_commands_are_the_same():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["openstack.limes.v1"]
    assert declared == {one.name: one.value for one in COMMANDS.values()}, "run: pip install -e ."
