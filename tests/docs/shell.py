"""A bash that runs the commands of one page, one after the other, as a reader would."""

import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.processes import http_answers

_LISTENS = re.compile(r"--listen (\S+)")


@dataclass(frozen=True, slots=True)
class Result:
    """What a command has printed on both outputs, and its exit code."""

    output: str
    code: int


class Shell:
    """Context manager. Variables and the working directory last from one command to the next."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self._step = folder / ".step.sh"
        self._output = folder / ".output"
        self._bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.killpg(self._bash.pid, signal.SIGTERM)  # with what `start` has left running
        try:
            self._bash.wait(timeout=200)
        except subprocess.TimeoutExpired:
            os.killpg(self._bash.pid, signal.SIGKILL)
            self._bash.wait()

    def run(self, command: str, timeout: float = 180.0) -> Result:
        """Runs it. Raises `AssertionError` if it does not end in time."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._step.write_text(command + "\n")
        self._bash.stdin.write(f"source {self._step} </dev/null >{self._output} 2>&1; echo $?\n")
        self._bash.stdin.flush()
        watch = threading.Timer(timeout, self._bash.kill)
        watch.start()
        code = self._bash.stdout.readline()
        watch.cancel()
        output = self._output.read_text(errors="replace")
        assert code, f"did not end within {timeout:.0f} s, or ended the shell: {command}\n{output}"
        return Result(output, int(code))

    def start(self, command: str, timeout: float = 180.0) -> None:
        """Starts a server that says with `--listen` where, and waits until it answers."""
        listens = _LISTENS.search(command)
        assert listens, f"this does not say where it listens: {command}"
        log = self._output.with_name(".server.log")
        started = self.run(f"{command} >{log} 2>&1 &")
        assert started.code == 0, started.output
        answers, deadline = http_answers(f"http://{listens[1]}/healthcheck"), time.monotonic() + timeout
        while not answers():
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
