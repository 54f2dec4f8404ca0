"""What an answer's body is made of, looked at while it arrives: how deep its JSON is, and how much memory it needs."""

import re
from itertools import accumulate

_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_STEPS = bytes(set(range(256)) - set(b"[]{}"))
_NO_VALUES = bytes(set(range(256)) - set(b"[{,:"))
_VALUE = 64
"""Bytes that each array, object, entry and key takes once it is parsed, besides its text. Measured: 40 to 75."""


class Contents:
    """Is fed with the body, part by part. What is no JSON has neither depth nor values."""

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

        Python keeps each character of a text in as many bytes as the largest one needs.
        """
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
