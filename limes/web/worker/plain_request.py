"""The short way of a plain request: its head is read at one stroke, and its answer is written at once.

gunicorn reads each head field by field, for all kinds of clients, which takes longer than all of our work on
a small answer. Nearly all requests are plain. Whatever is not is left to gunicorn: here, a pattern says what is
understood, and that is understood as gunicorn does (a test compares them). Nothing is refused here.
"""

import io
import logging
import os
import re
import time
from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

from gunicorn import util
from gunicorn.http import errors, wsgi
from gunicorn.http.message import HeaderPolicy

log = logging.getLogger(__name__)

_HEAD = re.compile(
    rb"(?!CONNECT )([A-Z]{3,20}) (/(?!/)[!\"$-~]*|/) HTTP/1\.1\r\n"
    rb"((?:[!#$%&'*+.^`|~0-9A-Za-z-]+:[\t -~]*\r\n){1,50})\r\n"
)
_PACKETS = 64 * 1024
"""Bytes up to which it is faster to copy an answer than to send it in two steps."""
_LARGEST_HEAD = 8000
"""Bytes; below all limits that gunicorn knows for lines."""
_LEFT_TO_GUNICORN = {"HTTP_EXPECT", "HTTP_TRANSFER_ENCODING", "HTTP_UPGRADE"}
_WITHOUT_PREFIX = {"HTTP_CONTENT_TYPE": "CONTENT_TYPE", "HTTP_CONTENT_LENGTH": "CONTENT_LENGTH"}
_PRINTABLE_LINES = re.compile("[\t\n -~\x80-\xff]*")


@lru_cache(maxsize=1024)
def _variable(name: str) -> str:
    variable = f"HTTP_{name.upper().replace('-', '_')}"
    return _WITHOUT_PREFIX.get(variable, variable)


@lru_cache(maxsize=2)
def _http_date(second: int) -> str:
    return formatdate(second, usegmt=True)


class PlainRequest:
    """What gunicorn's worker has to know of a request, and the request's WSGI environment."""

    version = (1, 1)

    def __init__(self, environ: dict[str, Any]) -> None:
        self.environ = environ
        self.method: str = environ["REQUEST_METHOD"]
        self.must_close: bool = environ.get("HTTP_CONNECTION", "").lower() == "close"

    def should_close(self) -> bool:
        return self.must_close

    def force_close(self) -> None:
        self.must_close = True


class _NoHeaders(HeaderPolicy):  # type: ignore[misc]  # gunicorn has no types
    """What gunicorn makes of a connection, whatever is asked on it."""

    method, uri, path, query, version, scheme = "GET", "/", "/", "", (1, 1), "http"
    headers = ()
    body = proxy_protocol_info = None

    def __init__(self, conn: Any) -> None:
        self.cfg, self.peer_addr = conn.cfg, conn.client
        _, self.environ = wsgi.create(self, conn.sock, conn.client, conn.server, conn.cfg)
        self.environ["wsgi.multithread"] = True
        del self.environ["wsgi.early_hints"]  # they belong to gunicorn's answer
        self.schemes = {_variable(name): value for name, value in self._peer_trusted_for_forwarded()[0].items()}


class Reader:
    """Reads the requests of one connection: gunicorn's parser, but for plain requests."""

    def __init__(self, conn: Any) -> None:
        self._gunicorn, self._sock = conn.parser, conn.sock
        # a server behind a file has the name that the client gives it; below a path, others are refused
        is_plain = isinstance(conn.server, tuple) and not os.environ.get("SCRIPT_NAME")
        self._connection = _NoHeaders(conn) if is_plain else None
        self._was_plain = False

    def __next__(self) -> Any:
        plain = self._read()
        self._was_plain = plain is not None
        return plain or next(self._gunicorn)

    def finish_body(self, deadline: float) -> bool:
        """Whether the next request can be read on this connection."""
        return self._was_plain or bool(self._gunicorn.finish_body(deadline=deadline))

    def _read(self) -> PlainRequest | None:
        data = self._sock.whole_request
        found = _HEAD.match(data) if self._connection else None
        if found is None or found.end() > _LARGEST_HEAD or self._connection is None:
            return None
        method, target, fields = (part.decode("ascii") for part in found.groups())
        path, _, query = target.partition("?")
        environ = {
            **self._connection.environ,
            "REQUEST_METHOD": method,
            "RAW_URI": target,
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1") if "%" in path else path,
            "QUERY_STRING": query,
            "wsgi.input": io.BytesIO(data[found.end() :]),
        }
        before, lines = len(environ), fields.split("\r\n")[:-1]
        for line in lines:
            name, _, value = line.partition(":")
            environ[_variable(name)] = value.strip(" \t")
        if len(environ) != before + len(lines) or not environ.keys().isdisjoint(_LEFT_TO_GUNICORN):
            return None
        schemes = {environ[name] == value for name, value in self._connection.schemes.items() if name in environ}
        if len(schemes) > 1 or environ.get("CONTENT_LENGTH", "0") != str(len(data) - found.end()):
            return None
        if True in schemes:
            environ["wsgi.url_scheme"] = "https"
        return PlainRequest(environ)


class PlainAnswer:
    """Takes the app's answer and writes it."""

    def __init__(self, request: PlainRequest, sock: Any, cfg: Any) -> None:
        self._request, self._sock, self._cfg = request, sock, cfg
        self._status = ""
        self._headers: list[tuple[str, str]] = []

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        """WSGI's `start_response`. Our apps give all of the body to the server, and none to a `write`."""
        self._status, self._headers = status, headers

    def send(self, body: Iterable[bytes]) -> None:
        """Sends a body that is there at once together with its head: a small answer is one packet, which wakes the
        client once. One that is still being made is left to gunicorn."""
        names = {name.lower() for name, _ in self._headers}
        has_end = "content-length" in names or self._request.method == "HEAD" or self._status[:3] in ("204", "304")
        if isinstance(body, list) and has_end and names.isdisjoint(util.hop_headers):
            parts = [self._head(), *body]
            for part in [b"".join(parts)] if sum(map(len, parts)) < _PACKETS else parts:
                self._sock.sendall(part)
        else:
            self._send_as_gunicorn(body)

    def _send_as_gunicorn(self, body: Iterable[bytes]) -> None:
        answer = wsgi.Response(self._request, self._sock, self._cfg)
        try:
            answer.start_response(self._status, self._headers)
            if isinstance(body, self._request.environ["wsgi.file_wrapper"]):
                answer.write_file(body)
            else:
                for part in body:
                    answer.write(part)
            answer.close()
        except OSError:  # the client has gone away
            raise
        except (Exception, SystemExit):
            if not answer.headers_sent:
                raise
            log.exception("an answer was broken off")
            raise StopIteration from None  # the connection is closed: no other answer may begin within this one

    def _head(self) -> bytes:
        lines = [
            f"HTTP/1.1 {self._status}",
            f"Server: {wsgi.SERVER}",
            f"Date: {_http_date(int(time.time()))}",
            f"Connection: {'close' if self._request.must_close else 'keep-alive'}",
            *[f"{name}: {value}" for name, value in self._headers],
        ]
        text = "\n".join(lines)
        if text.count("\n") != len(lines) - 1 or not _PRINTABLE_LINES.fullmatch(text):
            raise errors.InvalidResponseHeader("a header of the answer has control characters")
        return text.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n"
