"""Starts the processes of `limes serve`, watches over them, and stops all when one ends or on request."""

import ctypes
import os
import signal
import subprocess
import sys
import time
import urllib.request
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NamedTuple, Self

from limes.kernel.errors import StartupError
from limes.kernel.validation.sections import reachable

_STOP_TIMEOUT = 15.0
_PR_SET_PDEATHSIG = 1


class Child(NamedTuple):
    name: str
    listen: str
    process: subprocess.Popen[bytes]
    log: Path


class Supervisor:
    """Context manager: whatever happens inside, no process is left behind."""

    def __init__(self, log_folder: Path) -> None:
        self._log_folder = log_folder
        self._children: list[Child] = []
        self.stopped = False
        """Whether a stop was requested."""

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, name: str, listen: str) -> None:
        """Starts `limes NAME`. Its output goes to a file."""
        log, die_with_parent = self._log_folder / f"{name}.log", None
        if sys.platform.startswith("linux"):  # a child ends with us even if we are killed
            prctl = ctypes.CDLL(None).prctl
            die_with_parent = partial(prctl, _PR_SET_PDEATHSIG, signal.SIGTERM)
        with log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", "limes", name],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=die_with_parent,
                env={key: value for key, value in os.environ.items() if key != "PROMETHEUS_MULTIPROC_DIR"},
            )
        self._children.append(Child(name, listen, process, log))

    def wait_until_ready(self, timeout: float) -> None:
        """Waits until all processes answer their health check. Raises `StartupError` with the log's end if one ends."""
        deadline = time.monotonic() + timeout
        for child in self._children:
            while not self.stopped and not _is_healthy(child.listen):
                self.require_alive()
                if time.monotonic() > deadline:
                    raise StartupError(f"{child.name} did not answer in {timeout:.0f} seconds; see {child.log}")
                time.sleep(0.1)

    def require_alive(self) -> None:
        """Raises `StartupError` with the log's end if a process has ended."""
        for child in self._children:
            code = child.process.poll()
            if code is not None and not self.stopped:
                end = "\n".join(child.log.read_text(errors="replace").splitlines()[-12:])
                raise StartupError(f"{child.name} ended with exit code {code}; the end of its log:\n{end}")

    def wait(self) -> int:
        """Waits until a stop is requested (exit code 0), or until a process ends by itself (exit code 1)."""
        while not self.stopped:
            try:
                self.require_alive()
            except StartupError as error:
                print(f"limes serve: {error}", file=sys.stderr)
                return 1
            time.sleep(0.2)
        return 0

    def stop(self) -> None:
        self.stopped = True
        for child in reversed(self._children):
            if child.process.poll() is None:
                child.process.terminate()
        deadline = time.monotonic() + _STOP_TIMEOUT
        for child in self._children:
            try:
                child.process.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(child.process.pid, signal.SIGKILL)
                child.process.wait()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stopped = True


def _is_healthy(listen: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{reachable(listen)}/healthcheck", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
