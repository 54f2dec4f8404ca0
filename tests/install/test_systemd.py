"""The systemd units: read by systemd itself, and as closed as they can be."""

import configparser
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from limes.app.cli import build_parser
from tests.install.installation import Installation
from tests.setup.needs import SYSTEMD
from tests.support.machine import require

UNITS = sorted((Path(__file__).parents[2] / "config" / "systemd").glob("*.service"))


@pytest.fixture
def units(installation: Installation, tmp_path: Path) -> list[Any]:
    """The units, with this installation's `limes`: systemd looks whether the program is there."""
    require(SYSTEMD)
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/limes", str(installation.folder)))
    return sorted(tmp_path.glob("*.service"))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120)


def test_systemd_understands_them(units: list[Any]) -> None:
    verified = run("systemd-analyze", "verify", "--man=no", *units)
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")


def test_they_are_closed(units: list[Any]) -> None:
    for unit in units:
        judged = run("systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager", unit)
        assert judged.returncode == 0, judged.stdout[-500:]
        (exposure,) = re.findall(r"exposure level for \S+: ([\d.]+)", judged.stdout)
        assert float(exposure) <= 1.5


def read(unit: Path) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(unit)
    return parser


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_they_run_commands_that_there_are(unit: Path) -> None:
    program, *arguments = read(unit)["Service"]["ExecStart"].split()
    assert program == "/opt/limes/bin/limes"
    assert build_parser().parse_args(arguments).run


def test_all_of_them_are_hardened_alike() -> None:
    """Where they differ is what they start, and how."""
    own = {"ExecStart", "ExecReload", "Type", "NotifyAccess", "TimeoutStartSec", "TimeoutStopSec"}
    own |= {"KillMode", "Restart", "RestartSec"}
    common = [{key: value for key, value in read(unit)["Service"].items() if key not in own} for unit in UNITS]
    assert len(UNITS) == 5
    assert all(one == common[0] for one in common)
