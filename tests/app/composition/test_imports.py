"""What processes do not load: each of their workers would keep it in memory, and take longer to start."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

_OF_PLACEMENT = {"limes.placement.handlers", "limes.placement.search", "jsonschema", "os_traits"}
_RARELY_NEEDED = {"playhouse.migrations", "limes.notifications.mail.servers", "difflib", "statistics"}


def loaded_by(module: str) -> set[str]:
    features = "from limes.app.features import files; [*files('jobs'), *files('metrics')]"
    code = f"import sys, limes.app.composition.{module}; {features}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=200)
    return {*done.stdout.split()}


@pytest.mark.parametrize("module", ["api", "liquid", "collector", "metrics", "checks"])
def test_other_processes_do_without_placement_and_what_is_rarely_needed(module: str) -> None:
    assert not (_OF_PLACEMENT | _RARELY_NEEDED) & loaded_by(module)


@pytest.mark.parametrize("module", ["collector", "metrics"])
def test_processes_that_serve_no_api_do_without_its_framework(module: str) -> None:
    assert not {"falcon", "limes.web.call", "limes.api.parameters"} & loaded_by(module)


def test_placement_does_without_what_is_rarely_needed() -> None:
    assert not _RARELY_NEEDED & loaded_by("placement")
