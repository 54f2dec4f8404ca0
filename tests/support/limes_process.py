"""`limes` as a process of its own from this checkout, or in the process of the tests, which takes no second to start."""

import contextlib
import io
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from limes.app.cli import main
from tests.support.processes import ServerProcess, http_answers

ROOT = Path(__file__).parents[2]
LIMES = (sys.executable, "-m", "limes")
MODULES = {"PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}"}
"""Where a process finds Limes and its plugins."""


def environment(**more: str) -> dict[str, str]:
    """That of a process: ours without anything about Limes or OpenStack."""
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("LIMES_", "OS_"))}
    return ours | MODULES | more


def run_limes(*arguments: Any, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs a command, and waits for it."""
    command = [*LIMES, *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=environment(**env), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )


def run_here(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command in this process. Not for servers, which replace or stop their process."""
    out, err = io.StringIO(), io.StringIO()
    before = dict(os.environ)
    for name in [name for name in before if name.startswith(("LIMES_", "OS_"))]:
        del os.environ[name]
    try:
        with _own_logs(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(argument) for argument in arguments])
    finally:
        os.environ.clear()
        os.environ.update(before)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _own_logs() -> Iterator[None]:
    """Without the handlers of pytest, which get what the command logs otherwise; and all is as it was afterwards."""
    root = logging.getLogger()
    handlers = root.handlers[:]
    loggers = [logger for logger in logging.root.manager.loggerDict.values() if isinstance(logger, logging.Logger)]
    levels = [(logger, logger.level) for logger in (root, *loggers)]
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:] = handlers
        for logger, level in levels:
            logger.setLevel(level)


def limes_server(*arguments: Any, listen: str, log: Path, cwd: Path | None = None, **env: str) -> ServerProcess:
    """A process that is up when it says so at the address `listen`."""
    ready = http_answers(f"http://{listen}/healthcheck")
    return ServerProcess([*LIMES, *map(str, arguments)], ready=ready, log=log, env=MODULES | env, cwd=cwd)
