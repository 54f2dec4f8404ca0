"""Each command in each of its formats, and what openstackclient itself asks of commands: help and completion."""

import csv
import io
import json
import re
import subprocess
import tomllib
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from limes_osc.base import LimesLister, LimesShowOne
from limes_osc.columns import key_of

from tests.api.world import BERLIN
from tests.docs.blocks import blocks_of, pages
from tests.docs.transcript import steps_of
from tests.osc.client import OpenStackClient, User
from tests.osc.conftest import Cloud, Login

ROOT = Path(__file__).parents[2]
COMMANDS = {one.name.replace("_", " "): one for one in entry_points(group="openstack.limes.v1")}

IN_BERLIN = "--project berlin --domain germany"
WANTED = f"{IN_BERLIN} compute/cores 6 --az az-one --duration '1 hour'"
SHOWN = {
    "limes alert list": "--all-domains",
    "limes change list": "--all-domains",
    "limes forecast list": "--all-domains",
    "limes usage history": "--all-domains",
    "limes usage report": "--all-domains --from 2025-12-01",
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
    "limes project label list": "berlin",
    "limes project label set": "berlin --label env=prod --label 'owner=web team'",
    "limes commitment list": IN_BERLIN,
    "limes commitment show": f"{IN_BERLIN} {{one}}",
    "limes commitment create": WANTED,
    "limes commitment can-confirm": WANTED,
    "limes commitment plan": WANTED,
    "limes commitment set": f"{IN_BERLIN} {{one}} --duration '1 year'",
    "limes commitment merge": f"{IN_BERLIN} {{one}} {{third}}",
    "limes commitment renew": f"{IN_BERLIN} {{one}}",
    "limes commitment convert": f"{IN_BERLIN} {{year}} --to volume/capacity --amount 6",
    "limes commitment conversion list": "compute/cores",
    "limes commitment transfer start": f"{IN_BERLIN} {{one}}",
    "limes commitment transfer cancel": f"{IN_BERLIN} {{offered}}",
    "limes commitment transfer accept": "--project dresden --domain germany --token {token}",
    "limes commitment offer list": "",
    "limes commitment offer show": "--token {token}",
    "limes commitment utilisation list": IN_BERLIN,
    "limes commitment summary list": "--all-domains",
    "limes quota-set list": "",
    "limes commitment event list": "",
    "limes identity show": "",
    "limes mail list": "",
    "limes mail unsubscribe": "quota_used",
    "limes mail subscribe": "--all",
    "limes inbox list": "",
    "limes threshold set": "berlin --domain germany --percent 70",
    "limes threshold show": "berlin --domain germany",
    "limes webhook set": "berlin --domain germany --url https://chat.example.com/",
    "limes webhook show": "berlin --domain germany",
    "limes inconsistency list": "",
    "limes request list": "--all-domains",
    "limes request show": "{request}",
    "limes request create": f"{IN_BERLIN} --set compute/cores=+5 --reason launch",
    "limes request confirm": "{request}",
    "limes request approve": "{request}",
    "limes request reject": "{request} --reason no",
    "limes request withdraw": "{request}",
    "limes request comment": "{request} 'what for?'",
    "limes request pass-on": "{request}",
    "limes scrape error list": "",
    "limes subresource lifetime list": IN_BERLIN,
}
"""The commands that show something, and arguments with which they succeed in the small cloud."""

EMPTY = {"limes domain discover", "limes project discover", "limes project label list", "limes inbox list"}
"""What finds nothing there."""

NEW = {"passed_on_from", "passed_on_to", "id", "uuid", "transfer_token", "number", "related", "request_id", "secret"}
"""Fields that are others with each run."""


def test_all_are_here() -> None:
    shown = {name for name, one in COMMANDS.items() if issubclass(one.load(), LimesLister | LimesShowOne)}
    assert set(SHOWN) == shown


@dataclass(frozen=True)
class Story:
    """A command that finds the same cloud each time that it is run."""

    cloud: Cloud
    admin: User
    command: str

    def run(self, output: str) -> str:
        self.cloud.reset()
        self.cloud.engine.execute(
            "UPDATE project_services SET scrape_error = 'too hot', checked_at = 2000 WHERE project_id = 2", []
        )
        self.cloud.engine.execute(
            "INSERT INTO commitment_use (project_id, resource_id, az, day, looks, usage_sum, usage_min, usage_max,"
            " committed_sum) SELECT 1, id, 'az-one', 20453, 2, 10, 4, 6, 20 FROM resources WHERE name = 'cores'",
            [],
        )
        arguments = SHOWN[self.command]
        if "usage" in self.command:
            self.cloud.meter()
        if self.command in {"limes usage history", "limes forecast list"}:
            self.cloud.grow()
        if "history" in self.command or "change" in self.command:
            self.cloud.set_cores("domain", "", 110)
            self.cloud.set_cores("project", f"/projects/{BERLIN}", 21)
        if "commitment" in self.command:
            self.cloud.add_capacity()
            one, other = self.cloud.commit(), self.cloud.commit()
            year = self.cloud.commit(duration="1 year", amount=6)
            offered = self.cloud.post(f"{other['id']}/start-transfer", amount=3, transfer_status="public")
            made = {"one": one, "third": self.cloud.commit(), "year": year, "offered": offered}
            numbers = {name: commitment["id"] for name, commitment in made.items()}
            arguments = arguments.format(token=offered["transfer_token"], **numbers)
        if "webhook" in self.command:
            self.cloud.ask("PUT", f"/projects/{BERLIN}/webhook", {"webhook": {"url": "https://chat.example.com/"}})
        if "lifetime" in self.command:
            self.cloud.add_lifetimes()
        if "request" in self.command and self.command != "limes request create":
            who = "berlin-member" if "confirm" in self.command else "cloud-admin"
            number = self.cloud.request_cores(200 if "pass-on" in self.command else 40, who)
            arguments = arguments.format(request=number)
        return self.admin.must(f"{self.command.removeprefix('limes ')} {arguments} -f {output}")


def stable(document: Any) -> Any:
    """Without what is another one each time."""
    if isinstance(document, list):
        return [stable(one) for one in document]
    return {key: value for key, value in document.items() if key not in NEW}


@pytest.mark.parametrize("command", SHOWN)
def test_formats(cloud: Cloud, login: Login, command: str) -> None:
    story = Story(cloud, login("cloud-admin"), command)
    document = json.loads(story.run("json"))
    assert bool(document) == (command not in EMPTY)
    assert "object at 0x" not in json.dumps(document)
    for entry in document if isinstance(document, list) else [document]:
        assert all(re.fullmatch("[a-z_]+", key) for key in entry)
    assert stable(yaml.safe_load(story.run("yaml"))) == stable(document)
    people, raw = story.run("table"), story.run("value")
    if issubclass(COMMANDS[command].load(), LimesLister):
        rows = list(csv.DictReader(io.StringIO(story.run("csv"))))
        assert [list(map(key_of, row)) for row in rows] == [list(row) for row in document]
        assert len(raw.splitlines()) == len(rows)
        assert (people.count("\n| ") > len(document)) == bool(document)
    else:
        assert len(raw.splitlines()) == len(document)
        assert story.run("shell").count('="') == len(document)
        assert "| Field " in people
    assert all(len(line) <= 80 for line in people.splitlines()), people


@pytest.mark.parametrize("command", COMMANDS)
def test_help(openstack: OpenStackClient, command: str) -> None:
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


def test_completion_in_bash(openstack: OpenStackClient, tmp_path: Path) -> None:
    script = tmp_path / "openstack.bash"
    script.write_text(openstack.run("complete", {}).out)

    def offered(*typed: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", _PRESS_TAB, "bash", script, "openstack", *typed], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert offered("lime") == ["limes", "limes-help"]
    for command in COMMANDS:
        *head, last = command.split()
        assert last in offered(*head, last[:2])
    assert "--per-az" in offered("limes", "project", "show", "--per")


def test_every_command_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "openstack-client.md").read_text()
    assert [name for name in COMMANDS if f"`{name}" not in page] == []
    assert [
        option for option in ("endpoint", "domain", "project", "api-version") if f"--os-limes-{option}" not in page
    ] == []


def test_declared_and_installed_commands_are_the_same() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["openstack.limes.v1"]
    assert declared == {one.name: one.value for one in COMMANDS.values()}, "run: pip install -e ."


def test_tables_on_pages_fit_80_columns() -> None:
    """Pages show what the sample cloud answers; another test compares that."""
    tables = [
        (block.where, line)
        for page in pages()
        for block in blocks_of(page)
        if block.language == "console"
        for step in steps_of(block.text, block.line)
        if "openstack limes" in step.command
        for line in step.output.splitlines()
        if line.startswith(("+-", "| "))
    ]
    assert len(tables) > 50
    assert [(where, line) for where, line in tables if len(line) > 80] == []
