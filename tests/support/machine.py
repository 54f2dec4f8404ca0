"""What this machine has of what tests need; a test that needs what is missing is skipped, or fails where all must be."""

import os
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from tests.setup.needs import SERVERS, Need, must_have_all, this_machine

MACHINE = this_machine(Path(sys.prefix))


def require(need: Need) -> Path:
    """Where it is. Skips the test where it is missing, or fails it in CI. In `make check`, servers fail it."""
    if need in SERVERS and os.environ.get("LIMES_TEST_SERVERS") == "no":
        pytest.fail(f"make check runs nothing that needs {need.name}: mark this test", pytrace=False)
    path = need.find(MACHINE)
    if path is None:
        give_up(need.story())
    return path


class Missing(pytest.skip.Exception):
    """Skips a test for want of something; its text is the story."""


def give_up(story: str) -> NoReturn:
    """Skips the test, or fails it in CI."""
    if must_have_all(os.environ):
        pytest.fail(story, pytrace=False)
    raise Missing(story)


def in_one_line(report: pytest.TestReport, error: BaseException | None) -> None:
    """Has pytest sum up all tests that are skipped for want of the same thing, instead of one line for each."""
    if isinstance(error, Missing):
        report.longrepr = ("tests", 0, f"Skipped: {error.msg}")


def must_stop(*needs: Need) -> int | None:
    """For what is no test: an exit code if it cannot go on, and None if all is there."""
    missing = [need for need in needs if need.find(MACHINE) is None]
    for need in missing:
        print(need.story(), file=sys.stderr)
    return int(must_have_all(os.environ)) if missing else None
