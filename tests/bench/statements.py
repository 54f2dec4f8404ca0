"""How many statements reach PostgreSQL, by its own log."""

import contextlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.postgres import PostgresServer

_STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*):\s*(.*)")
_FRAME = re.compile("BEGIN[^;]*|COMMIT")
_RELOAD_SECONDS = 0.3
"""Until all sessions know of a changed setting."""


@dataclass
class Statements:
    """What is sent together counts once. `frame` counts BEGIN and COMMIT that are sent alone, `fetches` further rows of a
    stream, `work` all others."""

    work: int = 0
    frame: int = 0
    fetches: int = 0


@contextlib.contextmanager
def statements_of(server: PostgresServer) -> Iterator[Statements]:
    """Counts all statements of all sessions while the block runs; filled in when it has ended."""
    counted = Statements()
    log = server.socket_folder / "server.log"
    _set(server, "SET log_statement = 'all'")
    size = log.stat().st_size
    try:
        yield counted
    finally:
        with log.open(errors="replace") as file:
            file.seek(size)
            texts = _STATEMENT.findall(file.read())
        _set(server, "RESET log_statement")
    counted.frame = sum(_FRAME.fullmatch(text) is not None for text in texts)
    counted.fetches = sum(text.startswith("FETCH") for text in texts)
    counted.work = len(texts) - counted.frame - counted.fetches


def _set(server: PostgresServer, what: str) -> None:
    server.execute(f"ALTER SYSTEM {what}")
    server.execute("SELECT pg_reload_conf()")
    time.sleep(_RELOAD_SECONDS)
