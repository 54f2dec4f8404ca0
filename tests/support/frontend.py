"""The dashboard's sources, and the packages that they are built with."""

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.real import CHECKOUT, real_is_required

FRONTEND = CHECKOUT / "limes" / "ui" / "frontend"
STATIC = CHECKOUT / "limes" / "ui" / "static"


def require_packages() -> None:
    """Installs what package-lock.json says, once for all workers. Skips, or fails in CI, where there is no npm."""
    if shutil.which("npm") is None:
        message = "node and npm are missing: they build and check the dashboard"
        if real_is_required():
            pytest.fail(message)
        pytest.skip(message)
    stamp = FRONTEND / "node_modules" / ".installed"
    lock = (FRONTEND / "package-lock.json").read_bytes()
    with (FRONTEND / ".npm.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_bytes() != lock:
            npm("install", "--no-save", "--no-audit", "--no-fund")
            stamp.write_bytes(lock)


def npm(*arguments: str, cwd: Path = FRONTEND) -> str:
    """Runs npm. Answers its output, and raises `AssertionError` with it if it fails."""
    done = subprocess.run(["npm", *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"npm {' '.join(arguments)}:\n{done.stdout}\n{done.stderr}"
    return done.stdout
