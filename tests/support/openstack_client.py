"""The real openstack client, as a program that stays: one command costs a tenth of a second then."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.processes import die_with_parent
from tests.support.real import RealVenv

_APP = Path(__file__).parent / "apps" / "openstack_shell.py"
_VERSIONS = ("--os-compute-api-version", "2.98", "--os-volume-api-version", "3.70")


class OpenStackClient:
    """Runs commands of one user, for it keeps the clients that it has made. Stop it with `close()`."""

    def __init__(self, venv: RealVenv, folder: Path, login: Mapping[str, str]) -> None:
        """`login` are a password login's parameters."""
        self._options = [part for key, value in login.items() for part in (f"--os-{key.replace('_', '-')}", value)]
        self._log = (folder / "openstack.log").open("w")
        self._process = subprocess.Popen(
            [venv.bin("python"), _APP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"},
            text=True,
            bufsize=1,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )

    def close(self) -> None:
        """Ends the program."""
        self._process.terminate()
        self._process.wait(60)
        self._log.close()

    def run(self, *arguments: str) -> str:
        """What a command prints. It has to succeed."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([*self._options, *_VERSIONS, *arguments]) + "\n")
        answer = json.loads(self._process.stdout.readline())
        assert answer["code"] == 0, f"openstack {' '.join(arguments)}: {answer['err']}"
        return str(answer["out"])

    def json(self, *arguments: str) -> Any:
        """The same, as a document."""
        return json.loads(self.run(*arguments, "-f", "json"))
