"""Server processes for tests: started on a free port, waited for, and surely stopped."""

import contextlib
import ctypes
import functools
import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import requests

T = TypeVar("T")
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def free_port() -> int:
    """A TCP port on 127.0.0.1 that nobody listens on right now, and that nobody was given shortly before, not even by
    another run of tests on this machine.

    It is below those that the system gives to outgoing connections, so that none of these takes it before the server.
    """
    for port in itertools.islice(_ports(), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if sys.platform == "linux":
                _claim(port)
            return port
    raise AssertionError("no free port between 20000 and 32000")


_MOST_CLAIMS = 100
_claims: deque[socket.socket] = deque()


def _claim(port: int) -> None:
    """Takes a name that each process of this machine can have alone; it ends with ours, or with a hundred more ports."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0limes-tests-port-{port}")
    except OSError:
        claim.close()
        raise
    _claims.append(claim)
    if len(_claims) > _MOST_CLAIMS:
        _claims.popleft().close()


@functools.cache
def _ports() -> Iterator[int]:
    """One after the other, from a random one on: other workers of pytest-xdist have others."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    own = range(20_000, 32_000)[worker :: int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))]
    first = random.randrange(len(own))
    return itertools.cycle([*own[first:], *own[:first]])


def die_with_parent(how: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn` that has the kernel send the signal when pytest dies, however it dies. Linux only."""

    def before_exec() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, int(how))

    return before_exec


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, in order. Linux only."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return sorted(found)


def eventually(what: str, check: Callable[[], T], timeout: float = 200.0) -> T:
    """Repeats `check` until it answers something true, and answers that."""
    deadline = time.monotonic() + timeout
    while not (found := check()):
        assert time.monotonic() < deadline, f"did not happen in {timeout:.0f} s: {what}"
        time.sleep(0.05)
    return found


def http_answers(url: str) -> Callable[[], bool]:
    """Whether any HTTP answer below 500 comes from `url`."""

    def ready() -> bool:
        try:
            return requests.get(url, timeout=20, allow_redirects=False).status_code < 500
        except requests.RequestException:
            return False

    return ready


class ServerProcess:
    """One command in a process group of its own, with its output in a log file.

    A server is up once `ready` says so. A process that respawns its workers for ever accepts connections and never
    answers, so the wait is bounded.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        ready: Callable[[], bool],
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 180.0,
    ) -> None:
        """`env` is added to this process's environment. `timeout`, in seconds, is for `start()`."""
        self.command = [str(part) for part in command]
        self.log = log
        self._ready = ready
        self._env = {**os.environ, **(env or {})}
        self._cwd = cwd
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id; only after `start()`."""
        assert self._process is not None
        return self._process.pid

    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> "ServerProcess":
        """Starts the command and returns when it is up. Raises `AssertionError` with the log's tail if it is not.

        The process ends with the thread that started it, so start it in one that lives long enough.
        """
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._env,
                cwd=self._cwd,
                start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGTERM),
            )
        deadline = time.monotonic() + self._timeout
        while not self._ready():
            if not self.is_running():
                raise AssertionError(self._story(f"ended with code {self._process.returncode} instead of serving"))
            if time.monotonic() > deadline:
                self.stop()
                raise AssertionError(self._story(f"did not answer within {self._timeout:.0f} s"))
            time.sleep(0.05)
        return self

    def stop(self, timeout: float = 10.0) -> int | None:
        """SIGTERM, and after `timeout` seconds SIGKILL, for the whole group. Answers the exit code.

        Done again it does nothing, and answers None: the number of the group may be somebody else's by then.
        """
        process = self._process
        if process is None:
            return None
        self.signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout)
        self.signal(signal.SIGKILL)
        self._process = None
        return process.wait(60)

    def terminate(self) -> None:
        """SIGTERM for the process alone, as by systemd with `KillMode=mixed`."""
        os.kill(self.pid, signal.SIGTERM)

    def wait(self, timeout: float = 120.0) -> int:
        """Waits until it has ended, and answers the exit code. It may be started again then."""
        assert self._process is not None
        code = self._process.wait(timeout)
        self.signal(signal.SIGKILL)  # what it may have left
        self._process = None
        return code

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process and all its children."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def log_text(self) -> str:
        """All that it has written so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def _story(self, what: str) -> str:
        tail = "\n".join(self.log_text().splitlines()[-40:])
        return f"{' '.join(self.command)}\n{what}; the end of {self.log}:\n{tail}"

    def __enter__(self) -> "ServerProcess":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


@contextlib.contextmanager
def scratch_folder(prefix: str, owner: int | None = None) -> Iterator[Path]:
    """A folder with a short path (sockets need that), given to the user `owner`, and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    if owner is not None:
        os.chown(folder, owner, -1)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
