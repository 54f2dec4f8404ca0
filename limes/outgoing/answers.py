"""Limits for another server's answer: its size, its time, and where a redirect may lead."""

import io
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import requests
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError

from limes.errors import BackendError, BackendOutage
from limes.outgoing.contents import Contents
from limes.outgoing.room import ROOM, Share

_MIB = 1024 * 1024

MAX_HOPS = 5
_REDIRECTS = (301, 302, 303, 305, 307, 308)
_SAFE = ("GET", "HEAD")
_PORTS = {"http": 80, "https": 443}
_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """Bounds of one answer. Whatever goes beyond one of them is an error that names it."""

    max_transferred: int = 32 * _MIB
    """Bytes of the body on the wire."""
    max_size: int = 64 * _MIB
    """Bytes of the body after decompression."""
    max_depth: int = 64
    """Arrays and objects within each other in a JSON body."""
    memory: int = 384 * _MIB
    """Bytes of memory for all answers of this process together, with what is parsed from them."""
    timeout: float = 60.0
    """Seconds from the request to the end of the answer, where a request does not bring a time of its own."""


DEFAULT_LIMITS = AnswerLimits()


def origin(url: str) -> tuple[str, str, int | None]:
    """Returns scheme, host and port: who gets what is sent there. Raises `ValueError` for what is no URL."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme)


def next_url(response: requests.Response) -> str | None:
    """Returns the address that a redirect leads to; None for any other answer.

    Only reads are sent on, and only within their origin: credentials are for the server that they were meant for.
    Raises `BackendError` for all other redirects.
    """
    location = response.headers.get("Location")
    if response.status_code not in _REDIRECTS or not location:
        return None
    method, url = str(response.request.method), str(response.url)
    told = f"{method} {printable_url(url)}: answered with {response.status_code}, which leads to"
    try:
        target = urljoin(url, location)
        leaves = origin(target) != origin(url)
    except ValueError:
        raise BackendError(f"{told} what is no URL; look at what answers there") from None
    if leaves:
        raise BackendError(
            f"{told} {printable_url(target)}. It is not followed: that is another origin,"
            " and our credentials are not for it."
            " If the service is there, correct its endpoint in Keystone's catalog or in the configuration"
        )
    if method not in _SAFE or response.status_code == 305:
        raise BackendError(
            f"{told} {printable_url(target)}. It is not followed: only reads are."
            " Correct the endpoint in Keystone's catalog or in the configuration, so that it needs no redirect"
        )
    return target


def printable_url(url: str) -> str:
    """Returns a URL without what may be secret in it: user and password, query and fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def read_body(response: requests.Response, limits: AnswerLimits, until: float, seconds: float) -> tuple[bytes, Share]:
    """Returns the decompressed body, and its share of the room for answers, to be kept as long as the body.

    `until` is when it has to be complete, `seconds` how long that was to take. Raises `BackendOutage` naming the limit
    that was exceeded: whoever answers like that is not to be asked again and again. Raises what `requests` raises for
    connections that break.
    """
    where = f"{response.request.method} {printable_url(str(response.url))}"
    body, share = io.BytesIO(), ROOM.share()
    try:
        contents = Contents()
        for part in _decompressed(response, limits, until, seconds, where):
            body.write(part)
            contents.feed(part)
            _check(body.tell(), contents.depth, limits, where)
            ROOM.grow(share, contents.memory, limits.memory, until, where)
    except BaseException:
        body.close()  # the error's traceback keeps the object
        share.free()
        raise
    ROOM.end_reading(share)
    return body.getvalue(), share


def _check(size: int, depth: int, limits: AnswerLimits, where: str) -> None:
    if size > limits.max_size:
        raise BackendOutage(
            f"{where}: the answer has more than {limits.max_size} bytes after decompression (answers.max_size)"
        )
    if depth > limits.max_depth:
        raise BackendOutage(f"{where}: the answer's JSON is deeper than {limits.max_depth} levels (answers.max_depth)")


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
    """Yields what gzip or zlib has compressed, in small parts however much comes out of one."""
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
                raise BackendOutage(
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
