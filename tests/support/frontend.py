"""The dashboard's sources, and the packages that they are built with."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from tests.setup.needs import CHECKOUT, NPM
from tests.support.machine import MACHINE, give_up, require

FRONTEND = CHECKOUT / "limes" / "ui" / "frontend"
STATIC = CHECKOUT / "limes" / "ui" / "static"


def require_packages() -> None:
    """Installs what package-lock.json says, once for all workers. Skips, or fails in CI, where there is no npm."""
    require(NPM)
    stamp = FRONTEND / "node_modules" / ".installed"
    lock = (FRONTEND / "package-lock.json").read_bytes()
    with (FRONTEND / ".npm.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_bytes() != lock:
            try:
                npm("install", "--no-save", "--no-audit", "--no-fund")
            except AssertionError as error:
                reason = str(error).splitlines()[-1]
                give_up(f"npm cannot install the dashboard's packages ({reason}); not tested: {NPM.cost}")
            stamp.write_bytes(lock)


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
