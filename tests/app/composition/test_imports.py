"""What processes do not load: each of their workers would keep it in memory, and take longer to start."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

_OF_PLACEMENT = {"limes.placement.handlers", "limes.placement.search", "jsonschema", "os_traits"}


@pytest.mark.parametrize("module", ["api", "liquid", "collector", "metrics", "checks"])
def test_other_processes_do_without_placement(module: str) -> None:
    code = f"import sys, limes.app.composition.{module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=200)
    assert not _OF_PLACEMENT & {*done.stdout.split()}
