"""What was written into a static service: in memory, or in a JSON file that several processes share.

The file can be edited while Limes runs, to play a backend whose usage moves or whose quota somebody changes:

    {"<project id>": {"<resource>": {"quota": 20, "usage": 5}}}

`quota` is a number or "unlimited"; both keys may be missing.
"""

import contextlib
import fcntl
import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from limes.backends import BackendError

Figures = dict[str, dict[str, Any]]
"""Resource -> `quota`, `usage`, where they differ from the configuration."""


class State(Protocol):
    """Where quotas are kept. Safe to use from many threads."""

    def figures(self, project_id: str) -> Figures:
        """What is known of the project."""
        ...

    def write_quotas(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """Sets all these quotas, or none."""
        ...


class MemoryState:
    """Lives and dies with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._projects: dict[str, Figures] = {}

    def figures(self, project_id: str) -> Figures:
        """A copy of what is known."""
        with self._lock:
            return {name: dict(values) for name, values in self._projects.get(project_id, {}).items()}

    def write_quotas(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """Sets the quotas."""
        with self._lock:
            _merge(self._projects, project_id, quotas)


class FileState:
    """Lives in a file, which is replaced as a whole, under a lock on a second file beside it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def figures(self, project_id: str) -> Figures:
        """What the file says."""
        figures = self._read().get(project_id, {})
        if not isinstance(figures, dict) or not all(isinstance(values, dict) for values in figures.values()):
            raise BackendError(f"{self._path}: project {project_id}: expected resources with quota and usage")
        return figures

    def write_quotas(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """Sets the quotas, and keeps what else the file says."""
        with self._locked():
            projects = self._read()
            _merge(projects, project_id, quotas)
            temporary = self._path.with_name(self._path.name + ".new")
            temporary.write_text(json.dumps(projects, indent=1, sort_keys=True), encoding="utf-8")
            os.replace(temporary, self._path)

    def _read(self) -> dict[str, Any]:
        try:
            projects = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise BackendError(f"{self._path}: cannot be read: {error}") from error
        if not isinstance(projects, dict):
            raise BackendError(f"{self._path}: expected a mapping of project ids")
        return projects

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with open(f"{self._path}.lock", "w", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise BackendError(f"{self._path}: cannot be written: {error.strerror}") from error


def _merge(projects: dict[str, Any], project_id: str, quotas: Mapping[str, int]) -> None:
    figures = projects.setdefault(project_id, {})
    for name, quota in quotas.items():
        figures.setdefault(name, {})["quota"] = quota
