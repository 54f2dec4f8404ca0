"""Bytes that are kept: of a request that is still arriving, or of an answer that the client takes slowly."""

import tempfile
import threading
from typing import IO

_IN_MEMORY = 64 * 1024


class SpoolFull(Exception):
    """There are more bytes than the worker may keep."""


class SpoolBudget:
    """How much all spools of a worker together may write into the temporary folder, in bytes."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Raises `SpoolFull`."""
        with self._lock:
            if size > self._left:
                raise SpoolFull
            self._left -= size

    def give_back(self, size: int) -> None:
        with self._lock:
            self._left += size


class Spool:
    """First in, first out. A little is kept in memory; more goes into a temporary file that has no name."""

    def __init__(self, budget: SpoolBudget) -> None:
        self._budget = budget
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._taken = 0
        self._read_at = 0

    def __len__(self) -> int:
        return self._taken - self._read_at if self._file else len(self._memory)

    def write(self, data: bytes | memoryview) -> None:
        """Appends. Raises `SpoolFull`, also when the disk is full."""
        if self._file is None and len(self._memory) + len(data) <= _IN_MEMORY:
            self._memory += data
            return
        if self._file is None:
            held, self._memory = bytes(self._memory), bytearray()
            self._add(held)
        self._add(data)

    def _add(self, data: bytes | memoryview) -> None:
        self._budget.take(len(data))
        self._taken += len(data)
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - close() closes it
            self._file.seek(0, 2)
            remaining = memoryview(data)
            while remaining:
                remaining = remaining[self._file.write(remaining) :]
        except OSError as error:
            raise SpoolFull(str(error)) from error

    def peek(self, size: int) -> bytes:
        """Returns the next bytes, without taking them."""
        if self._file is None:
            return bytes(self._memory[:size])
        self._file.seek(self._read_at)
        return self._file.read(size)

    def skip(self, size: int) -> None:
        if self._file is None:
            del self._memory[:size]
        else:
            self._read_at += size
            if self._read_at == self._taken:
                self.close()

    def read(self, size: int) -> bytes:
        data = self.peek(size)
        self.skip(len(data))
        return data

    def close(self) -> None:
        """Drops everything. The spool may be used again."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._budget.give_back(self._taken)
        self._memory.clear()
        self._taken = self._read_at = 0
