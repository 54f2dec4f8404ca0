"""What `pip install` has made of the wheel."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Installation:
    """A virtual environment for the wheel alone. What it needs comes from ours, or for a release from PyPI."""

    folder: Path

    def bin(self, name: str) -> Path:
        return self.folder / "bin" / name

    @property
    def share(self) -> Path:
        return self.folder / "share" / "limes"

    def run(self, *command: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Runs `limes`, without anything of ours on its path."""
        return subprocess.run(
            [self.bin("limes"), *command], capture_output=True, text=True, timeout=180, env=self.env, **options
        )

    @property
    def env(self) -> dict[str, str]:
        ours = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LIMES_", "OS_"))}
        return {**ours, "PATH": f"{self.folder / 'bin'}:{ours['PATH']}", "TERM": "dumb"}
