"""Finds the end of a request while it arrives: what gunicorn's parser would wait for, without waiting.

This decides only whether enough has arrived to begin. gunicorn decides what a request means and whether it is
well-formed; whatever looks odd is handed on at once, to be refused there.
"""

import enum
import re

_HEAD_SIZE = 64 * 1024
_LINE_SIZE = 8190
_END = b"\r\n\r\n"
_LENGTH_OR_CODING = re.compile(rb"\r\n(content-length|transfer-encoding|expect)[ \t]*:([^\r\n]*)", re.IGNORECASE)
_BARE_NEWLINE = re.compile(rb"(?<!\r)\n")
_HEX = re.compile(rb"[0-9a-fA-F]{1,16}[ \t]*\Z")


class Stage(enum.Enum):
    """How far a request has come."""

    HEAD = enum.auto()
    """Its head is incomplete, or nothing has arrived yet."""
    BODY = enum.auto()
    """Its head is complete, its body is not."""
    WHOLE = enum.auto()
    """It is complete."""
    TOO_LONG = enum.auto()
    """Its body is too large to wait for."""
    ODD = enum.auto()
    """Not HTTP as we know it: waiting for more is no use."""


class HeadTooLarge(Exception):
    """The head is larger than that of any sensible request."""


class Framing:
    """One request. `feed` it with what arrives until its `stage` says that it can go on."""

    def __init__(self, max_body_size: int) -> None:
        self.stage = Stage.HEAD
        self.expects_continue = False
        """Whether the client waits for `100 Continue` before it sends the body."""
        self._max_body_size = max_body_size
        self._head = bytearray()
        self._missing = 0
        self._chunks: _Chunks | None = None

    def feed(self, data: bytes) -> int:
        """Returns how many of these bytes belong to this request; the rest is the next one's. Raises `HeadTooLarge`."""
        return self._feed_head(data) if self.stage is Stage.HEAD else self._feed_body(data)

    def _feed_head(self, data: bytes) -> int:
        head, before = self._head, len(self._head)
        # the next request begins with at most one empty line (RFC 9112, 2.2)
        start = 2 if before > 1 and head.startswith(b"\r\n") else 0
        if not before:
            start = 2 if data.startswith(b"\r\n") else 0
            end = data.find(_END, start)
            if end >= 0:  # the whole head in one piece, as almost always
                return self._end_head(data[: end + 4], data, end + 4)
        head += data
        end = head.find(_END, max(start, before - 3))
        if end >= 0:
            return self._end_head(bytes(head[: end + 4]), data, end + 4 - before)
        self._check_head(head, max(0, before - 1))
        return len(data)

    def _check_head(self, head: bytearray, start: int) -> None:
        has_line = head.find(b"\n", 2) >= 0 or len(head) <= _LINE_SIZE + 4
        if not has_line or _BARE_NEWLINE.search(head, start) or head.startswith(b"\r\n\r\n"):
            self.stage = Stage.ODD
        elif len(head) > _HEAD_SIZE:
            raise HeadTooLarge

    def _end_head(self, head: bytes, data: bytes, used: int) -> int:
        self._head = bytearray()
        fields = _LENGTH_OR_CODING.findall(head)
        self.stage = Stage.WHOLE
        if fields:
            self._read_fields(fields, is_old=head.lstrip(b"\r\n").split(b"\r\n", 1)[0].endswith(b" HTTP/1.0"))
        if self.stage is Stage.WHOLE or len(data) == used:
            return used
        return used + self._feed_body(data[used:])

    def _read_fields(self, fields: list[tuple[bytes, bytes]], *, is_old: bool) -> None:
        values: dict[bytes, list[bytes]] = {}
        for name, value in fields:
            values.setdefault(name.lower(), []).append(value.strip(b" \t").lower())
        lengths, codings = values.get(b"content-length", []), values.get(b"transfer-encoding", [])
        if codings:
            tokens = [token.strip(b" \t") for coding in codings for token in coding.split(b",")]
            if lengths or is_old or tokens[-1] != b"chunked" or tokens.count(b"chunked") > 1:
                self.stage = Stage.ODD
            else:
                self.stage, self._chunks = Stage.BODY, _Chunks(self._max_body_size)
        elif lengths:
            self._expect_length(lengths)
        self.expects_continue = not is_old and b"100-continue" in values.get(b"expect", [])

    def _expect_length(self, lengths: list[bytes]) -> None:
        if len(lengths) > 1 or not lengths[0].isdigit():
            self.stage = Stage.ODD
        elif len(lengths[0]) > 18 or int(lengths[0]) > self._max_body_size:
            self.stage = Stage.TOO_LONG
        elif int(lengths[0]):
            self.stage, self._missing = Stage.BODY, int(lengths[0])

    def _feed_body(self, data: bytes) -> int:
        if self.stage is not Stage.BODY:
            return len(data)
        if self._chunks is not None:
            used = self._chunks.feed(data)
            self.stage = self._chunks.stage
            return used if self.stage in (Stage.BODY, Stage.WHOLE) else len(data)
        used = min(len(data), self._missing)
        self._missing -= used
        if not self._missing:
            self.stage = Stage.WHOLE
        return used


class _Chunks:
    """A body in chunks (RFC 9112, 7.1). Only lines are kept, not the content of the chunks."""

    def __init__(self, max_body_size: int) -> None:
        self.stage = Stage.BODY
        self._max_body_size = max_body_size
        self._line = bytearray()
        self._skip = 0
        """Bytes that are left of the chunk and of the line's end after it."""
        self._in_trailers = False
        self._size = 0
        self._sent = 0

    def feed(self, data: bytes) -> int:
        """Returns how many of these bytes belong to the body."""
        at = 0
        while at < len(data) and self.stage is Stage.BODY:
            if self._skip:
                step = min(self._skip, len(data) - at)
                self._skip -= step
            else:
                step = self._feed_line(data, at)
            at += step
        self._sent += at
        if self.stage is Stage.BODY and self._sent > 8 * self._max_body_size:  # hardly anything but chunk heads
            self.stage = Stage.TOO_LONG
        return at

    def _feed_line(self, data: bytes, at: int) -> int:
        end = data.find(b"\n", at)
        step = (len(data) if end < 0 else end + 1) - at
        self._line += data[at : at + step]
        if end >= 0:
            self._end_line(bytes(self._line))
            self._line.clear()
        elif len(self._line) > _LINE_SIZE:
            self.stage = Stage.ODD
        return step

    def _end_line(self, line: bytes) -> None:
        if not line.endswith(b"\r\n"):
            self.stage = Stage.ODD
        elif self._in_trailers:
            if line == b"\r\n":
                self.stage = Stage.WHOLE
        elif not _HEX.match(size := line[:-2].split(b";", 1)[0]):
            self.stage = Stage.ODD
        elif chunk := int(size, 16):
            self._skip = chunk + 2
            self._size += chunk
            if self._size > self._max_body_size:
                self.stage = Stage.TOO_LONG
        else:
            self._in_trailers = True
