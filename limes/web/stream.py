"""Answers that are too large to stand in memory: made while they are sent."""

import itertools
from collections.abc import Callable, Generator, Iterator


class BodyStream:
    """An answer's body in parts, each made when the client has taken the one before.

    The first part is made at once, so that what fails early is answered with a status of its own. What fails later
    breaks the connection off: the client sees an answer without its end, and never takes it for a whole one.

    The server calls `close()` in any case: behind the last part, after an error, and when the client has gone away.
    Until then the parts may use what `on_close` gives back, such as the request's database connection.
    """

    def __init__(self, parts: Generator[bytes, None, None]) -> None:
        self._parts = parts
        self._closers: list[Callable[[], object]] = []
        self._is_closed = False
        self.sent = 0
        """How many bytes the server has taken."""
        self._first = next(parts, b"")

    def __iter__(self) -> Iterator[bytes]:
        for part in itertools.chain([self._first], self._parts):
            self.sent += len(part)
            yield part

    def on_close(self, action: Callable[[], object]) -> None:
        """Runs `action` once nothing more is read: at once, if that is so already."""
        if self._is_closed:
            action()
        else:
            self._closers.append(action)

    def close(self) -> None:
        """Ends the reading. May be called twice."""
        self._is_closed = True
        closers, self._closers = self._closers, []
        try:
            self._parts.close()
        finally:
            for action in closers:
                action()
