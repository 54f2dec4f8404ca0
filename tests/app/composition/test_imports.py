"""What processes do not load: each of their workers would keep it in memory, and take longer to start."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

_OF_PLACEMENT = {"limes.placement.handlers", "limes.placement.search", "jsonschema", "os_traits"}
_RARELY_NEEDED = {"playhouse.migrations", "limes.notifications.mail.servers", "difflib", "statistics"}


def loaded_by(module: str) -> set[str]:
    code = f"import sys, limes.app.composition.{module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=200)
    return {*done.stdout.split()}


@pytest.mark.parametrize("module", ["api", "liquid", "collector", "metrics", "checks"])
def test_other_processes_do_without_placement_and_what_is_rarely_needed(module: str) -> None:
    assert not (_OF_PLACEMENT | _RARELY_NEEDED) & loaded_by(module)


def test_placement_does_without_what_is_rarely_needed() -> None:
    assert not _RARELY_NEEDED & loaded_by("placement")
