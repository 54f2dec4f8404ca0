"""Only one collector for a SQLite file: it cannot skip rows that others have claimed, so two would block each other."""

import fcntl
from pathlib import Path
from typing import IO

from limes.db.engine import Engine
from limes.errors import StartupError

_held: list[IO[str]] = []
"""Files whose locks this process holds until it ends, however it ends."""


def claim_sqlite_file(engine: Engine) -> None:
    """Keeps other collectors off a SQLite file until this process ends. Does nothing on PostgreSQL.

    Raises `StartupError` if another collector uses the file.
    """
    if engine.dialect != "sqlite":
        return
    path = Path(f"{engine.name}.collector-lock")
    try:
        file = path.open("w")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StartupError(
            f"another collector uses the {engine.location} already, and SQLite allows only one:"
            " stop that one, or use PostgreSQL for any number"
        ) from None
    except OSError as error:
        raise StartupError(f"{path}: cannot be locked: {error.strerror}") from None
    _held.append(file)
