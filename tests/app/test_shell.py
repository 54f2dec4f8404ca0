"""`make shell` answers what is typed."""

import subprocess
import sys

import pytest

from tests.house import ROOT

TYPED = """\
rows("SELECT name FROM projects ORDER BY name")
[domain["name"] for domain in get("/v1/domains")["domains"]]
len(limes.catalog.services)
"""


@pytest.mark.process
def test_shell() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.shell"], cwd=ROOT, input=TYPED, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    assert "[('berlin',), ('dresden',), ('paris',)]" in ended.stdout
    assert "['france', 'germany']" in ended.stdout
    assert ">>> 2\n" in ended.stdout
    assert ended.stderr.startswith("A small cloud is open"), ended.stderr
    assert "Traceback" not in ended.stderr
