"""`limes status`, `limes collect --once` and `limes plugin test`, as an operator runs them."""

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.placement.migrations import placement_migrations
from tests.support.limes_process import LIMES, ROOT, environment, run_here, run_limes
from tests.support.processes import free_port

SHOP = "1a000000000000000000000000000001"


class Shell:
    """Runs `limes` with the quickstart's cloud, whose Placement does not run, on a database of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        text = (ROOT / "config" / "quickstart.yaml").read_text()
        for port in ("8080", "8778", "8081"):
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free_port()}")
        text = text.replace("sqlite:///var/", f"sqlite:///{folder}/var/").replace(": var/", f": {folder}/var/")
        self.document = yaml.safe_load(text)
        self.document["collector"] |= {"scrape_interval": 1800, "capacity_interval": 900}
        (folder / "var").mkdir()
        self.configure()
        engine = Engine(f"sqlite:///{folder}/var/quickstart.db")
        limes_migrations.upgrade(engine)
        placement_migrations.upgrade(engine)
        engine.close()

    def configure(self) -> None:
        (self.folder / "limes.yaml").write_text(yaml.safe_dump(self.document))

    def without_placement(self) -> None:
        for key in ("services", "capacitors"):
            self.document[key] = [entry for entry in self.document[key] if entry["type"] != "placement"]
        self.document["resource_behavior"] = []
        self.document["quota_sets"] = {}
        self.configure()

    def __call__(self, *arguments: Any) -> subprocess.CompletedProcess[str]:
        return run_here(*arguments, "--config", self.folder / "limes.yaml")

    def in_a_process(self, *arguments: Any) -> subprocess.CompletedProcess[str]:
        """As alone as an operator's, so that its lock on the SQLite file ends with it."""
        return run_limes(*arguments, "--config", self.folder / "limes.yaml", cwd=self.folder)

    def on_a_terminal(self, *arguments: str, **env: str) -> str:
        """What a terminal gets, standard error included."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*LIMES, *arguments, "--config", str(self.folder / "limes.yaml")],
            env=environment(TERM="xterm-256color", COLUMNS="140", **env),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        seen = b""
        try:
            while data := os.read(ours, 65536):
                seen += data
        except OSError:  # the last one has closed the terminal
            pass
        os.close(ours)
        process.wait(timeout=200)
        return seen.decode()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_once_does_all_that_is_due_and_fails_if_something_does(shell: Shell) -> None:
    once = shell("collect", "--once", "--json")
    assert once.returncode == 1
    outcomes = {(one["task"], one["about"]): one for one in json.loads(once.stdout)["outcomes"]}
    assert outcomes["keystone_syncs", ""]["succeeded"] == 1
    assert outcomes["resource_scrapes", "object-store"] == {
        "task": "resource_scrapes",
        "about": "object-store",
        "succeeded": 5,
        "failed": 0,
    }
    assert outcomes["resource_scrapes", "compute"]["failed"] >= 1
    assert outcomes["capacity_scrapes", "placement"]["failed"] == 1
    status = shell("status", "--json")
    assert status.returncode == 1
    report = json.loads(status.stdout)["report"]
    services = {one["service"]: one for one in report["services"]}
    assert (services["object-store"]["unscraped"], services["compute"]["unscraped"]) == (0, 5)
    assert services["object-store"]["pending_pushes"] == 0, "what a scrape has found out is written by the same run"
    assert any("Unable to establish connection" in one["message"] for one in report["errors"])
    assert any(line.startswith("service compute: the last scrape failed in") for line in report["problems"])


def test_a_second_run_has_nothing_to_do(shell: Shell) -> None:
    shell.without_placement()
    first = shell.in_a_process("collect", "--once")
    assert first.returncode == 0, first.stderr
    assert "resource_scrapes" in first.stdout
    status = shell("status")
    assert status.returncode == 0, status.stdout
    assert "No problems." in status.stdout
    assert "Circuits: no collector answers at 127.0.0.1:" in status.stdout
    second = shell("collect", "--once")
    assert second.returncode == 0
    assert "resource_scrapes" not in second.stdout


def test_colours_only_on_terminals_and_not_with_no_color(shell: Shell) -> None:
    """Programs that read a pipe get no escape sequences; people who do not want colours get none.

    Takes some seconds: four programs start one after the other, and one of them scrapes a cloud."""
    shell("collect", "--once")
    assert "\x1b[" not in shell("status").stdout
    colourful = shell.on_a_terminal("status")
    assert "\x1b[1;31m" in colourful, "problems are red"
    plain = shell.on_a_terminal("status", NO_COLOR="1")
    assert "31m" not in plain
    assert "the last scrape failed in" in plain


def test_progress_is_shown_on_terminals(shell: Shell) -> None:
    shell.without_placement()
    seen = shell.on_a_terminal("collect", "--once")
    assert "tasks" in seen
    assert "Done" in seen
    assert "tasks" not in shell.in_a_process("collect", "--once").stderr


def test_a_plugin_is_tried_out(shell: Shell) -> None:
    tried = shell("plugin", "test", "object-store", "--project", SHOP)
    assert tried.returncode == 0, tried.stderr
    assert "object-store in acme/shop" in tried.stdout
    assert "Nothing was stored." in tried.stdout
    document = json.loads(shell("plugin", "test", "object-store", "--project", SHOP, "--json").stdout)
    assert document["resources"]["capacity"]["per_az"]["any"]["usage"] == 40
    assert document["project"]["name"] == "shop"
    assert json.loads(shell("status", "--json").stdout)["report"]["services"] == [], "nothing was stored"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plugin", "test", "compute", "--project", SHOP), "limes: service compute: Unable to establish connection"),
        (("plugin", "test", "nothing", "--project", SHOP), "limes: no service 'nothing'; there are: compute, object-"),
        (("plugin", "test", "object-store", "--project", "x"), "limes: discovery finds no project x"),
        (("collect", "--json"), "limes: --json is for --once"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_1(shell: Shell, arguments: tuple[Any, ...], message: str) -> None:
    result = shell(*arguments)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(message)
    assert len(result.stderr.splitlines()) == 1
