"""Writes that go to PostgreSQL in one round trip: each of them costs more than the work of a small statement."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Batch(threading.local):
    """What each thread has noted to be written, in a block of `collect`."""

    def __init__(self, write: Callable[[str, Sequence[Any]], object], *, joins: bool) -> None:
        """`write` runs a text with its values. `joins` says whether the text may be several statements."""
        self.is_open = False
        self._write = write
        self._joins = joins
        self._statements: list[tuple[str, Sequence[Any]]] = []

    def add(self, text: str, values: Sequence[Any]) -> None:
        self._statements.append((text, values))

    @contextlib.contextmanager
    def collect(self) -> Iterator[None]:
        """Within the block, `Engine.write` only notes what to write, and returns 0. It is written in this order before
        the next read, and at the end of the block. To be used inside a transaction."""
        assert not self.is_open, "blocks are not nested"
        self.is_open = True
        try:
            yield
            self.flush()
        finally:
            self.is_open, self._statements = False, []

    def flush(self) -> None:
        statements, self._statements = self._statements, []
        if self._joins and statements:
            texts = ";\n".join(text for text, _ in statements)
            statements = [(texts, [value for _, values in statements for value in values])]
        for text, values in statements:
            self._write(text, values)
