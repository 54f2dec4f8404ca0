"""The memory that all answers of this process may take together, so that no server can take all of it.

An answer's share grows while it is read, and is free again once the answer is no longer used, and the call of a
plugin that it belongs to has ended or asks for the next one: until then there is what was parsed from it. If there is
no room, a reader waits. If several wait, the one with most gives way, so that the others go on.
"""

import gc
import itertools
import re
import threading
import time
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from itertools import accumulate
from json import JSONDecodeError
from queue import SimpleQueue
from typing import TypeVar

from limes.kernel import errors, system

_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_STEPS = bytes(set(range(256)) - set(b"[]{}"))
_NO_VALUES = bytes(set(range(256)) - set(b"[{,:"))
_VALUE = 64
"""Bytes that each array, object, entry and key takes once it is parsed, besides its text. Measured: 40 to 75."""


class Contents:
    """What a body is made of, fed part by part as it arrives: how deep its JSON is, and how much memory it needs. What
    is no JSON has neither depth nor values."""

    def __init__(self) -> None:
        self.depth = 0
        """Arrays and objects within each other, at most."""
        self._size = self._values = self._level = 0
        self._width = 1
        self._is_json: bool | None = None
        self._in_string = False
        self._rest = b""

    @property
    def memory(self) -> int:
        """Bytes that are needed at once where the body is parsed: itself, its text, the strings in it, all values.
        Python keeps each character of a text in as many bytes as the largest one needs."""
        return self._size * (1 + 2 * self._width) + self._values * _VALUE

    def feed(self, part: bytes) -> None:
        """Takes the next part. Only UTF-8 is understood, which is what JSON has to be."""
        self._size += len(part)
        if self._width < 4 and not part.isascii():
            largest = max(part)
            self._width = max(self._width, 4 if largest >= 0xF0 else 2 if largest >= 0xC4 else 1)
        if self._is_json is None:
            begin = part.lstrip()[:1]
            self._is_json = begin in (b"{", b"[") if begin else None
        if self._is_json:
            self._read(part)

    def _read(self, part: bytes) -> None:
        part = self._rest + part
        self._rest = b""
        if b"\\" in part:
            part = _ESCAPED.sub(b"", part)
            if part.endswith(b"\\"):
                part, self._rest = part[:-1], b"\\"
        pieces = part.split(b'"')
        outside = b"".join(pieces[self._in_string :: 2])
        self._in_string ^= len(pieces) % 2 == 0
        self._values += len(outside.translate(None, _NO_VALUES))
        steps = memoryview(outside.translate(_STEPS, _NO_STEPS)).cast("b")
        levels = list(accumulate(steps, initial=self._level))
        self._level = levels[-1]
        self.depth = max(self.depth, *levels)


T = TypeVar("T")

_SMALL = 4 * 1024 * 1024
"""Bytes: answers up to this are not counted, so that they never wait for large ones."""
_PATIENCE = 2.0
"""Seconds that the largest of several waits."""
_AGAIN = 0.02
"""Seconds after which one that waits looks again."""

_last: ContextVar[list["Share"] | None] = ContextVar("last", default=None)
"""The share of the last answer within a plugin's call."""


class Room:
    """Counts shares. Safe to use from many threads."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._taken = 0
        self._is_to_give_back = False
        self._readers: dict[int, int] = {}
        """Bytes of each answer that is being read."""
        self.left: SimpleQueue[tuple[int, int]] = SimpleQueue()
        """Shares that are no more. They may end wherever an object can, so that takes no lock."""

    @property
    def taken(self) -> int:
        """Bytes of all shares, but for small ones."""
        with self._lock:
            self._clear()
            return self._taken

    def share(self) -> "Share":
        """Returns an empty share for a new answer, which takes the place of the call's last one."""
        share, last = Share(self, next(self._numbers)), _last.get()
        if last is not None:
            last[:] = [share]
        return share

    def grow(self, share: "Share", size: int, limit: int, until: float, where: str) -> None:
        """Makes a share larger, and waits for room until then, on the clock `time.monotonic`. Raises `BackendOutage`,
        which begins with `where`."""
        counted = size if size > _SMALL else 0
        if counted > limit:
            raise errors.BackendOutage(f"{where}: the answer needs more than {limit} bytes of memory (answers.memory)")
        if self._take(share, counted, limit):
            return
        gc.collect()  # for answers that are only referred to by cycles of errors and their tracebacks
        began = time.monotonic()
        while not self._take(share, counted, limit):
            now = time.monotonic()
            if now > until or (now > began + self._patience and self._is_largest(share)):
                raise errors.BackendOutage(f"{where}: other answers leave no memory for this one (answers.memory)")
            time.sleep(_AGAIN)

    def end_reading(self, share: "Share") -> None:
        """The answer has arrived: it does not grow any more."""
        with self._lock:
            self._readers.pop(share.number, None)

    def give_back(self) -> None:
        """Gives memory back to the system if a large answer has gone since the last time."""
        with self._lock:
            self._clear()
            is_to_give_back, self._is_to_give_back = self._is_to_give_back, False
        if is_to_give_back:
            system.give_back()

    def _take(self, share: "Share", size: int, limit: int) -> bool:
        with self._lock:
            self._clear()
            if size > share.size and self._taken + size - share.size > limit:
                return False
            self._taken += size - share.size
            share.size = self._readers[share.number] = size
            return True

    def _is_largest(self, share: "Share") -> bool:
        with self._lock:
            others = [size for number, size in self._readers.items() if number != share.number and size]
            return bool(others) and share.size >= max(others)

    def _clear(self) -> None:
        while not self.left.empty():
            number, size = self.left.get()
            self._taken -= size
            self._readers.pop(number, None)
            self._is_to_give_back |= size > 0


class Share:
    """What one answer takes. It is free once the object is gone, at the latest."""

    def __init__(self, room: Room, number: int) -> None:
        self.number = number
        self.size = 0
        """Bytes that are counted."""
        self._room = room

    def free(self) -> None:
        self._room.left.put((self.number, self.size))
        self.size = 0

    def __del__(self) -> None:
        self.free()


ROOM = Room()
"""That of this process."""


def with_its_answers(call: Callable[[], T]) -> T:
    """Returns what a plugin's call returns, which has a share of the room for its last answer until then."""
    last: list[Share] = []
    token = _last.set(last)
    try:
        return call()
    except BaseException as error:
        _drop_answers(error)
        raise
    finally:
        _last.reset(token)
        last.clear()
        ROOM.give_back()


def _drop_answers(error: BaseException | None) -> None:
    """Lets go of the answers that an error keeps. Its handler does not need them, and they may stay for long."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        if isinstance(error, JSONDecodeError):
            error.doc = ""
        error = error.__cause__ or error.__context__
