"""The dashboard's sources, and the packages that they are built with."""

import fcntl
import functools
import os
import shutil
import subprocess
from pathlib import Path

from tests.setup.needs import CHECKOUT, NPM
from tests.support.machine import MACHINE, give_up, require

FRONTEND = CHECKOUT / "limes" / "ui" / "frontend"
STATIC = CHECKOUT / "limes" / "ui" / "static"


QUICKLY = (
    *("--no-audit", "--no-fund"),
    *("--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=500", "--fetch-timeout=60000"),
)
"""Where the registry cannot be reached, npm's own patience is many minutes."""


def require_packages() -> None:
    """Installs what package-lock.json says, once for all workers. Skips, or fails in CI, where that cannot be done."""
    require(NPM)
    if reason := _install_packages():
        give_up(f"npm cannot install the dashboard's packages ({reason}); not tested: {NPM.cost}")


@functools.cache
def _install_packages() -> str:
    """Answers why it failed; nothing if it did not. Tried once by each worker."""
    stamp = FRONTEND / "node_modules" / ".installed"
    lock = (FRONTEND / "package-lock.json").read_bytes()
    with (FRONTEND / ".npm.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_bytes() != lock:
            try:
                npm("install", "--no-save", *QUICKLY)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                return reason_of(str(error))
            stamp.write_bytes(lock)
    return ""


def reason_of(output: str) -> str:
    """Answers the line of what npm said that says most."""
    lines = [line for line in output.splitlines() if line and "complete log" not in line]
    return next((line for line in lines if "request to" in line), lines[-1])


def npm(*arguments: str, cwd: Path = FRONTEND) -> str:
    """Runs npm. Answers its output, and raises `AssertionError` with it if it fails."""
    return run("npm", *arguments, cwd=cwd)


def run(program: str | Path, *arguments: str | Path, cwd: Path = FRONTEND) -> str:
    """Runs a program that is written for node, which need not be on the PATH. Answers as `npm` does."""
    node = MACHINE.program("node")
    assert node is not None
    env = {**os.environ, "PATH": f"{os.environ['PATH']}:{node.parent}"}
    path = shutil.which(program, path=env["PATH"])
    done = subprocess.run([str(path), *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{program} {' '.join(map(str, arguments))}:\n{done.stdout}\n{done.stderr}"
    return done.stdout
