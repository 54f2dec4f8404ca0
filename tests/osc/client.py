"""The program `openstack` as a user has it: a folder of its own as home, an environment, and commands."""

import json
import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """How a command has ended."""

    status: int
    out: str
    errors: str

    @property
    def json(self) -> Any:
        """What it printed with `-f json`."""
        return json.loads(self.out)


class OpenStackClient:
    """One process of `tests.osc.worker`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {
            name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV")
        } | {
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONWARNINGS": "ignore",
            "COLUMNS": "400",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.osc.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.env,
            cwd=home,
        )

    def run(self, command: str, env: Mapping[str, str]) -> Outcome:
        """Runs a command line without its first word, `openstack`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"argv": shlex.split(command), "env": dict(env)}) + "\n")
        self._process.stdin.flush()
        outcome = Outcome(*json.loads(self._process.stdout.readline()))
        assert "Traceback" not in outcome.errors, outcome.errors
        return outcome

    def stop(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=200)


class Terminal:
    """A command of a process of its own, with a terminal as its input: whoever uses it sees a question, and answers."""

    def __init__(self, client: OpenStackClient, command: str, env: Mapping[str, str]) -> None:
        ours, theirs = pty.openpty()
        self._keyboard = os.fdopen(ours, "w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "openstackclient.shell", *shlex.split(command)],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
            env={**client.env, **env},
            cwd=client.home,
        )
        os.close(theirs)
        self._errors = ""

    def wait_for_question(self) -> None:
        """Returns when it waits for an answer."""
        assert self._process.stderr is not None
        while not self._errors.endswith("[y/N] "):
            letter = self._process.stderr.read(1)
            assert letter, f"ended without a question: {self._errors}"
            self._errors += letter

    def answer(self, text: str) -> Outcome:
        """Types the answer, and waits for the end."""
        self._keyboard.write(text)
        self._keyboard.flush()
        return self.wait()

    def wait(self) -> Outcome:
        """Waits for the end."""
        out, errors = self._process.communicate(timeout=200)
        self._keyboard.close()
        return Outcome(self._process.returncode, out, self._errors + errors)


@dataclass(frozen=True)
class User:
    """A user with a login."""

    client: OpenStackClient
    env: Mapping[str, str]

    def run(self, command: str, **env: str) -> Outcome:
        """Runs `openstack limes COMMAND`."""
        return self.client.run(f"limes {command}", {**self.env, **env})

    def must(self, command: str, **env: str) -> str:
        """The same; it has to succeed. Answers what it printed."""
        outcome = self.run(command, **env)
        assert outcome.status == 0, f"{command}\n{outcome.out}{outcome.errors}"
        return outcome.out

    def json(self, command: str, **env: str) -> Any:
        """The document that it prints."""
        return json.loads(self.must(f"{command} -f json", **env))

    def at_terminal(self, command: str) -> Terminal:
        """Starts `openstack limes COMMAND` at a terminal."""
        return Terminal(self.client, f"limes {command}", self.env)

    def refused(self, command: str, **env: str) -> str:
        """What it says if it fails, as it must."""
        outcome = self.run(command, **env)
        assert outcome.status != 0, f"{command}\n{outcome.out}"
        return outcome.errors
