"""The soak itself, for less than a minute, with each of its faults once."""

import subprocess
import sys

import pytest

from tests.setup.needs import POSTGRESQL
from tests.support.limes_process import ROOT
from tests.support.machine import require

pytestmark = [pytest.mark.faults, pytest.mark.postgresql, pytest.mark.timeout(900)]


def test_nothing_is_lost_in_a_short_soak() -> None:
    require(POSTGRESQL)
    command = [sys.executable, "-m", "tests.soak", "--minutes", "0.3", "--every", "2.5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert lines[-2:] == ["answers that nobody should see: 0", "lost: 0"]
    (killed,) = [line for line in lines if line.startswith("killed: ")]
    assert "PostgreSQL 1 times" in killed
