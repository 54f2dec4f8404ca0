"""An HTTP server on loopback that answers as a test wants it to, and remembers what it was sent."""

import contextlib
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.support.http_server import HttpServer


@dataclass(frozen=True)
class Request:
    """What has arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What is sent: a body of bytes has a length; parts are sent one by one until the connection ends with them."""

    status: int = 200
    body: bytes | Iterable[bytes] = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class WebServer:
    """Change `answer` to change what it does from the next request on."""

    url: str
    answer: Callable[[Request], Answer]
    requests: list[Request] = field(default_factory=list)

    def saw(self, secret: str) -> bool:
        """Whether a secret has come with any request, wherever in it."""
        return any(secret in f"{one.path} {dict(one.headers)} {one.body!r}" for one in self.requests)


def redirect(status: int, location: str) -> Callable[[Request], Answer]:
    """Sends everybody elsewhere, each to the same path."""
    return lambda request: Answer(status, b"", {"Location": location + request.path})


@contextlib.contextmanager
def web_server(
    answer: Callable[[Request], Answer] = lambda _: Answer(), tls: ssl.SSLContext | None = None
) -> Iterator[WebServer]:
    """Serves one on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.command, self.path, dict(self.headers), body)
            served.requests.append(request)
            found = served.answer(request)
            with contextlib.suppress(ConnectionError):
                self._send(found)

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            whole = isinstance(answer.body, bytes)
            self.send_header(*(("Content-Length", str(len(answer.body))) if whole else ("Connection", "close")))
            self.end_headers()
            for part in (answer.body,) if isinstance(answer.body, bytes) else answer.body:
                self.wfile.write(part)

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = HttpServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    served = WebServer(f"http://127.0.0.1:{server.server_port}", answer)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
