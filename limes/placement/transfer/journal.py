"""Keeps what was read of a source in a file, so that a reading that failed goes on where it stopped.

Each line is one answer. A file is for one reading: `restart` begins the next one, `remove` ends the last. What is older
than an hour is read again, since the source goes on changing and the copy has to follow it.
"""

import os
import threading
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

import orjson

from limes.placement.transfer.api import ReadableApi
from limes.system import Clock

FRESH = timedelta(hours=1)


class Journal:
    """A source whose answers are kept. Safe to use from many threads."""

    def __init__(self, api: ReadableApi, source: str, path: Path | None, clock: Clock, *, fresh: bool = False) -> None:
        """Opens the file at `path` or makes it. Answers in it count only if they came from this `source`.

        With `fresh` none count. Without a path nothing is kept. Raises `OSError` if the file cannot be written.
        """
        self.version = api.version
        self.kept = 0
        """How many answers the file had."""
        self.comparing = False
        """Whether this reading follows the writing, to compare."""
        self._api = api
        self._identity = {"source": source, "version": api.version}
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: dict[str, Any] = {}
        self._file: IO[bytes] | None = None
        if fresh or path is None or not self._load(path):
            self.restart()

    def get(self, path: str) -> Any:
        """Returns what the source answers, or has answered before. Raises `BackendError`."""
        if path in self._answers:
            return self._answers[path]
        document = self._api.get(path)
        with self._lock:
            if self._file is not None:
                self._file.write(orjson.dumps([path, document]) + b"\n")
                self._file.flush()
        return document

    def restart(self, *, comparing: bool = False) -> None:
        """Forgets everything. `comparing` says that what is read from now on is for comparison."""
        self.close()
        self.comparing = comparing
        self.kept = 0
        self._answers = {}
        if self._path is None:
            return
        self._file = _open(self._path, os.O_TRUNC)
        head = self._identity | {"started": self._clock.now().timestamp(), "comparing": comparing}
        self._file.write(orjson.dumps(head) + b"\n")
        self._file.flush()

    def remove(self) -> None:
        """Deletes the file, since nothing is left to do."""
        self.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Closes the file, which stays."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _load(self, path: Path) -> bool:
        """Loads the file if it is of this source and fresh. The last line may be cut off."""
        try:
            head, *lines = path.read_bytes().splitlines(keepends=True)
            about = orjson.loads(head)
            age = self._clock.now().timestamp() - about["started"]
            if any(about[key] != value for key, value in self._identity.items()) or age > FRESH.total_seconds():
                return False
            complete_lines = [line for line in lines if line.endswith(b"\n")]
            self._answers = dict(orjson.loads(line) for line in complete_lines)
            self.comparing = bool(about["comparing"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            self._answers = {}
            return False
        os.truncate(path, len(head) + sum(map(len, complete_lines)))
        self.kept = len(self._answers)
        self._file = _open(path, os.O_APPEND)
        return True


def _open(path: Path, flag: int) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | flag
    return os.fdopen(os.open(path, flags, 0o600), "wb")  # only for the owner: it says who has what
