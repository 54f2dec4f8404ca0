"""SQLite bears one collector; the second one is told so."""

import subprocess
import sys
from pathlib import Path

import pytest

from limes.collector.runner import claim_sqlite_file
from limes.db.engine import Engine
from limes.kernel.errors import StartupError

HOLDER = """
import sys
from limes.collector.runner import claim_sqlite_file
from limes.db.engine import Engine
claim_sqlite_file(Engine(sys.argv[1]))
print("mine", flush=True)
sys.stdin.read()
"""


def test_a_second_collector_is_refused_until_the_first_one_is_gone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'limes.db'}"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "mine\n"
        with pytest.raises(StartupError, match=r"another collector uses the SQLite file .*limes\.db already"):
            claim_sqlite_file(Engine(url))
        holder.kill()
    claim_sqlite_file(Engine(url))


def test_on_postgresql_there_may_be_any_number(tmp_path: Path) -> None:
    for _ in range(2):
        claim_sqlite_file(Engine("postgresql://somewhere/limes"))
