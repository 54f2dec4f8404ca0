"""What is taken of another server's answer: its size, its time, where a redirect may lead, and no credentials."""

import base64
import binascii
import io
import json
import time
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from pydantic import Field
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError

from limes.kernel.errors import BackendError, BackendOutage
from limes.kernel.outgoing.room import ROOM, Contents, Share
from limes.kernel.redaction import TELLING_KEY, pattern_of, redact, secrets_of
from limes.kernel.validation.durations import Seconds
from limes.kernel.validation.sections import Section

_LONGEST_ERROR = 256 * 1024
"""Bytes of an error's body that anybody could want to read."""
_SHORTEST, _SHORTEST_IN_DATA = 6, 20
"""Characters: what is shorter is left, in errors and in what may well be data."""


def without_secrets(body: bytes, status: int, request: requests.PreparedRequest) -> bytes:
    """Returns the body of an answer without the credentials of its request; errors also lose what looks like some."""
    is_error = status >= 400
    shortest = _SHORTEST if is_error else _SHORTEST_IN_DATA
    body = body[:_LONGEST_ERROR] if is_error else body
    long = [credential for credential in set(_credentials(request)) if len(credential) >= shortest]
    sent = [credential for credential in long if credential.encode() in body]
    if not sent and not is_error:
        return body
    text = body.decode(errors="surrogateescape")
    if pattern := pattern_of(sent):
        text = pattern.sub("***", text)
    return (redact(text) if is_error else text).encode(errors="surrogateescape")


def _credentials(request: requests.PreparedRequest) -> Iterator[str]:
    yield from secrets_of(str(request.url))
    for name, value in request.headers.items():
        if TELLING_KEY.search(name):
            yield _text(value)
        elif name.lower() in ("authorization", "cookie"):
            yield from _of_authorization(_text(value))
    if isinstance(request.body, str | bytes) and "json" in _text(request.headers.get("Content-Type", "")):
        try:
            yield from _of_json(json.loads(request.body))
        except ValueError:
            return


def _of_authorization(value: str) -> Iterator[str]:
    kind, _, credentials = value.partition(" ")
    yield credentials or kind
    if kind.lower() == "basic":
        try:
            yield base64.b64decode(credentials).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return


def _of_json(value: Any, within_secret: bool = False) -> Iterator[str]:
    """Yields texts below keys that announce secrets: `"password": "..."`, and `"token": {"id": "..."}`."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _of_json(item, bool(TELLING_KEY.search(key)) or (within_secret and key == "id"))
    elif isinstance(value, list):
        for item in value:
            yield from _of_json(item)
    elif within_secret and isinstance(value, str):
        yield value


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


_MIB = 1024 * 1024

MAX_HOPS = 5
_REDIRECTS = (301, 302, 303, 305, 307, 308)
_SAFE = ("GET", "HEAD")
_PORTS = {"http": 80, "https": 443}
_CHUNK = 64 * 1024


class AnswerLimits(Section):
    """Bounds of each answer of Keystone, of a backend, and of a Placement that is imported from.

    An answer beyond one of them is an error that names the bound."""

    max_transferred: int = Field(default=32 * _MIB, ge=1024)
    """Bytes of the body on the wire."""
    max_size: int = Field(default=64 * _MIB, ge=1024)
    """Bytes of the body after decompression."""
    max_depth: int = Field(default=64, ge=4)
    """Arrays and objects within each other in a JSON body."""
    memory: int = Field(default=384 * _MIB, ge=_MIB)
    """Bytes of memory for all answers that a process has at a time, with what is parsed from them: three to nine times
    a body's size, and 64 for each value and key. An answer that finds no room waits for others to go, until its time is
    over. Answers that need at most 4 MiB are not counted."""
    timeout: Seconds = 60.0
    """From a request to a backend to the end of its answer. `identity.keystone.timeout` is that for Keystone, and no
    request takes longer than its task may: 80 % of `collector.lease`, or `api.backend_timeout`."""


DEFAULT_LIMITS = AnswerLimits()


def origin(url: str) -> tuple[str, str, int | None]:
    """Returns scheme, host and port: who gets what is sent there. Raises `ValueError` for what is no URL."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme)


def next_url(response: requests.Response) -> str | None:
    """Returns the address that a redirect leads to; None for any other answer. Only reads are sent on, and only within
    their origin: credentials are for the server that they were meant for. Raises `BackendError` for all other
    redirects."""
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
    that was exceeded: a server that answers like that is not asked again and again. Raises what `requests` raises for
    connections that break.
    """
    where = f"{response.request.method} {printable_url(str(response.url))}"
    body, share = io.BytesIO(), ROOM.share()
    try:
        contents = Contents()
        for part in _decompressed(response, limits, until, seconds, where):
            body.write(part)
            contents.feed(part)
            if body.tell() > limits.max_size:
                problem = f"more than {limits.max_size} bytes after decompression (answers.max_size)"
                raise BackendOutage(f"{where}: the answer has {problem}")
            if contents.depth > limits.max_depth:
                problem = f"deeper than {limits.max_depth} levels (answers.max_depth)"
                raise BackendOutage(f"{where}: the answer's JSON is {problem}")
            ROOM.grow(share, contents.memory, limits.memory, until, where)
    except BaseException:
        body.close()  # the error's traceback keeps the object
        share.free()
        raise
    ROOM.end_reading(share)
    return body.getvalue(), share


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
