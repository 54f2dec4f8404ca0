"""Reads the body of an answer, as far as its limits allow."""

import re
import time
import zlib
from collections.abc import Iterator

import requests
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError

from limes.errors import BackendError, BackendOutage
from limes.outgoing.limits import AnswerLimits
from limes.outgoing.redirects import shown

_CHUNK = 64 * 1024

_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def read_body(response: requests.Response, limits: AnswerLimits, until: float, seconds: float) -> bytes:
    """The decompressed body. `until` is when it has to be complete, `seconds` how long that was to take.

    Raises `BackendError` naming the limit that was exceeded, and what `requests` raises for connections that break.
    """
    where = f"{response.request.method} {shown(str(response.url))}"
    size, parts = 0, []
    for part in _decompressed(response, limits, until, seconds, where):
        size += len(part)
        if size > limits.max_size:
            raise BackendError(
                f"{where}: the answer has more than {limits.max_size} bytes after decompression (answers.max_size)"
            )
        parts.append(part)
    body = b"".join(parts)
    if body[:64].lstrip()[:1] in (b"{", b"[") and is_deeper(body, limits.max_depth):
        raise BackendError(f"{where}: the answer's JSON is deeper than {limits.max_depth} levels (answers.max_depth)")
    return body


def is_deeper(document: bytes, depth: int) -> bool:
    """Whether arrays and objects of a JSON document lie more than `depth` deep, also where it is cut off.

    Each round takes the innermost ones away, which for real documents is much cheaper than to read them.
    """
    if b"\\" in document:
        document = _ESCAPED.sub(b"", document)
    outside_strings = b"".join(document.split(b'"')[::2])
    brackets = outside_strings.translate(_AS_BRACKETS, _NO_BRACKETS)
    for _ in range(depth):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets or brackets.count(b"[") > depth


def _decompressed(
    response: requests.Response, limits: AnswerLimits, until: float, seconds: float, where: str
) -> Iterator[bytes]:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    transferred = _transferred(response, limits, until, seconds, where)
    if encoding in ("", "identity"):
        yield from transferred
    elif encoding in ("gzip", "x-gzip", "deflate"):
        try:
            yield from _inflated(transferred)
        except zlib.error as error:
            raise BackendError(f"{where}: the answer is said to be {encoding}, but cannot be decompressed") from error
    else:
        raise BackendError(f"{where}: the answer is compressed as {encoding!r}, which we have not asked for")


def _inflated(parts: Iterator[bytes]) -> Iterator[bytes]:
    """What gzip or zlib has compressed, in small parts however much comes out of one."""
    inflater = None
    for part in parts:
        while part:
            if inflater is None:
                inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either of the two, by its header
            yield inflater.decompress(part, _CHUNK)
            if inflater.eof:  # gzip may have several members
                part, inflater = inflater.unused_data, None
            else:
                part = inflater.unconsumed_tail


def _transferred(
    response: requests.Response, limits: AnswerLimits, until: float, seconds: float, where: str
) -> Iterator[bytes]:
    late = f"{where}: the answer was not complete after {seconds:g} s"
    size = 0
    try:
        while part := response.raw.read1(_CHUNK, decode_content=False):
            size += len(part)
            if size > limits.max_transferred:
                raise BackendError(
                    f"{where}: the answer has more than {limits.max_transferred} bytes (answers.max_transferred)"
                )
            yield part
            if time.monotonic() > until:
                raise BackendOutage(late)
    except ReadTimeoutError as error:
        raise BackendOutage(late) from error
    except ProtocolError as error:
        raise requests.exceptions.ChunkedEncodingError(error) from error
    except HTTPError as error:
        raise requests.exceptions.ConnectionError(error) from error
