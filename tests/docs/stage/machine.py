"""One machine of a guide: a folder that stands for its file system, a shell, and the services that systemd would run."""

import configparser
import os
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.docs.shell import Shell
from tests.support.processes import ServerProcess

StartService = Callable[["Machine", str], ServerProcess]
"""Makes the process of a service by its name."""

_PATH = re.compile(r"(?<![\w./:-])/(etc|opt|var)/")
PROGRAMS = Path(__file__).parent / "programs"
"""Stand-ins for what changes users or other machines: `sudo`, `scp`, ..."""


class Machine:
    """`names` maps what the guide says (addresses, ports) to what there is here."""

    def __init__(
        self, root: Path, names: Mapping[str, str], env: Mapping[str, str], services: StartService | None = None
    ) -> None:
        self.root = root
        self.home = root / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self._names = names
        self._start_service = services
        self._running: dict[str, ServerProcess] = {}
        path = os.pathsep.join([str(PROGRAMS), env["PATH"], "/usr/sbin"])
        self._shell = Shell(self.home, {**env, "PATH": path, "HOME": str(self.home), "STAGE": str(root.parent)})

    def here(self, text: str) -> str:
        """What the guide says, with the addresses and paths of this machine."""
        for shown, real in self._names.items():
            text = text.replace(shown, real)
        return _PATH.sub(lambda path: f"{self.root}/{path[1]}/", text)

    def write(self, path: str, text: str) -> Path:
        """Writes a file that the guide shows."""
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.here(text))
        return file

    def run(self, commands: str) -> str:
        """Runs a block of the guide, and answers what it prints. Every command has to succeed."""
        lines = commands.strip().splitlines()
        if all(line.startswith("sudo systemctl ") for line in lines):
            for line in lines:
                self.systemctl(*shlex.split(line)[2:])
            return ""
        result = self._shell.run(f"(set -e\n{self.here(commands)})")
        assert result.code == 0, f"{commands}\nexit code {result.code}:\n{result.output}"
        return result.output

    def systemctl(self, verb: str, *words: str) -> None:
        """Starts, stops or restarts services. A service that runs once has ended when this returns."""
        for name in (word for word in words if not word.startswith("-")):
            if verb in ("stop", "restart") and name in self._running:
                self._running.pop(name).stop(timeout=60)
            if verb in ("start", "restart", "enable") and name not in self._running:
                assert self._start_service is not None
                self._running[name] = self._start_service(self, name).start()

    def kill(self, name: str) -> None:
        """Ends a service as a power cut does."""
        self._running.pop(name).stop(timeout=0)

    def log_of(self, name: str) -> str:
        """What a service has printed."""
        return self._running[name].log_text()

    def close(self) -> None:
        """Ends everything."""
        for process in self._running.values():
            process.stop(timeout=30)
        self._shell.__exit__(None, None, None)


class _UnitParser(configparser.RawConfigParser):
    """Keys of units have capitals."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def unit_of(machine: Machine, name: str) -> tuple[list[str], dict[str, str]]:
    """The command and environment of a unit in the machine's /etc/systemd/system."""
    unit = _UnitParser(strict=False)
    assert unit.read(machine.root / "etc" / "systemd" / "system" / f"{name}.service"), name
    service = unit["Service"]
    env = dict([machine.here(service["Environment"]).split("=", 1)])
    secrets = Path(machine.here(service["EnvironmentFile"].removeprefix("-")))
    env |= dict(line.split("=", 1) for line in secrets.read_text().splitlines())
    return shlex.split(machine.here(service["ExecStart"])), env
