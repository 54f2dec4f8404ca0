"""The sink `log`: a file, or standard output, with one JSON object a line."""

import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from limes.audit.sinks.base import Delivery, OutgoingEvent


@dataclass(frozen=True, slots=True)
class LogSink:
    """Appends to a file, which is opened for each delivery, so that it can be rotated at any time.

    The file is synced to disk before anything counts as delivered.
    """

    path: Path | None = None
    """None means standard output, where nothing is known about what becomes of events."""
    name: str = "log"

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        """Delivers all events, or reports none as delivered."""
        text = "".join(f"{event.document}\n" for event in events).encode()
        try:
            if self.path is None:
                sys.stdout.buffer.write(text)
                sys.stdout.flush()
            else:
                _append(self.path, text)
        except OSError as error:
            where = "standard output" if self.path is None else str(self.path)
            return Delivery(error=f"cannot write to {where}: {error.strerror or error}")
        return Delivery([event.number for event in events])

    def try_out(self) -> str | None:
        if self.path is None:
            return None
        target = self.path if self.path.exists() else self.path.absolute().parent
        if not target.exists():
            return f"there is no folder {target}"
        if self.path.is_dir() or not os.access(target, os.W_OK):
            return f"cannot write to {target}"
        return None


def _append(path: Path, text: bytes) -> None:
    with path.open("ab", buffering=0) as file:
        is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)  # and not a pipe, or a device
        if is_file and _ends_within_a_line(path):  # after a full disk or a crash; that event is delivered again
            text = b"\n" + text
        while text:
            text = text[file.write(text) :]
        if is_file:
            os.fsync(file.fileno())


def _ends_within_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
