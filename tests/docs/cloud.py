"""The sample cloud that readers start with `limes serve`: started once, and set back where a page says `--fresh`."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

from tests.support.processes import free_port
from tests.support.programs import programs

ROOT = Path(__file__).parents[2]
PORTS = ("8080", "8778", "8081", "8083")
"""Those of config/quickstart.yaml, and one more; free ones take their place."""


class SampleCloud:
    """`limes serve --config config/quickstart.yaml` in a folder that looks like a checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ports = {port: str(free_port()) for port in PORTS}
        shutil.copytree(ROOT / "config", folder / "config")
        for file in (folder / "config").rglob("*.yaml"):
            file.write_text(self.with_real_ports(file.read_text()))
        (folder / "home").mkdir()
        self._bin = folder / ".bin"
        self._programs = programs(folder, self._bin)
        self._live = folder / "var" / "quickstart.db"
        self._saved = folder / "saved"
        self.banner = ""
        self._process: subprocess.Popen[str] | None = None

    @property
    def env(self) -> dict[str, str]:
        """The environment of a reader."""
        path = os.pathsep.join([str(self._bin), str(Path(sys.executable).parent), os.environ["PATH"]])
        return {
            "PATH": path,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}",
            "HOME": str(self.folder / "home"),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "COLUMNS": "120",
        }

    def with_real_ports(self, text: str) -> str:
        """What is to be run."""
        for shown, real in self._ports.items():
            text = text.replace(f"127.0.0.1:{shown}", f"127.0.0.1:{real}")
        return text

    def with_shown_ports(self, text: str) -> str:
        """What a reader would have seen."""
        for shown, real in self._ports.items():
            text = text.replace(f"127.0.0.1:{real}", f"127.0.0.1:{shown}")
        return text.replace(str(self.folder), "/home/you/limes")

    def start(self) -> None:
        """Starts it and keeps what it prints until it is ready, and its data."""
        self._programs.start()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "limes", "serve", "--fresh", "--config", "config/quickstart.yaml"],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.banner += self.with_shown_ports(line)
            if "/usages?" in line:  # the last of the commands to try
                self._save()
                return
        raise AssertionError(f"limes serve ended with {self._process.wait()}:\n{self.banner}")

    def stop(self) -> None:
        """Ends everything."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=200)
        self._programs.stop(timeout=10)

    def _save(self) -> None:
        self._saved.mkdir()
        shutil.copy(self._live.with_name("object-store.json"), self._saved)
        _copy(self._live, self._saved / "quickstart.db")

    def reset(self) -> None:
        """Does what `--fresh` does, without a new start: all data are as in the beginning, and Placement notices."""
        _copy(self._saved / "quickstart.db", self._live)
        shutil.copy(self._saved / "object-store.json", self._live.parent)
        url = self.with_real_ports("http://127.0.0.1:8778/resource_providers")
        with urlopen(Request(url, headers={"X-Auth-Token": "cloud-admin"}), timeout=200) as answer:
            answer.read()


def _copy(source: Path, target: Path) -> None:
    """One whole state of a SQLite database, also of one in use."""
    with sqlite3.connect(source, timeout=200) as one, sqlite3.connect(target, timeout=100) as other:
        one.backup(other)
    one.close()
    other.close()
