"""An HTTP server that answers as a service does according to its public API reference, for services that don't run here.

What it answers is a table of functions; what it was asked is kept. It is real HTTP, so that the client's own handling of
paths, headers, pages and errors is under test as well.
"""

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.http_server import HttpServer


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: Any


Answer = tuple[int, Any]
Handler = Callable[..., Answer]


@dataclass(frozen=True)
class Cut:
    """A document of which only the first half is sent, and then the connection is closed."""

    document: Any


@dataclass
class RecordedService:
    """Routes are (method, regular expression of the path) to a function of the request and the expression's groups."""

    routes: dict[tuple[str, str], Handler]
    asked: list[Asked] = field(default_factory=list)
    content_type: str = "application/json"

    def __post_init__(self) -> None:
        self._server = HttpServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    def close(self) -> None:
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Asked) -> Answer:
        """The answer of the route that fits. 404 if there is none."""
        self.asked.append(request)
        for (method, pattern), handler in self.routes.items():
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                return handler(request, *match.groups())
        return 404, {"error": {"code": 404, "message": f"no route for {request.method} {request.path}"}}

    def count(self, method: str, path: str) -> int:
        """How often a path was asked for."""
        return sum(one.method == method and one.path == path for one in self.asked)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                parts = urlsplit(self.path)
                data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                query = parse_qs(parts.query)
                is_json = self.headers.get("Content-Type", "").startswith("application/json")
                body = json.loads(data) if data and is_json else data
                asked = Asked(self.command, parts.path, query, dict(self.headers.items()), body)
                status, document = service.answer(asked)
                cut = isinstance(document, Cut)
                document = document.document if isinstance(document, Cut) else document
                answer = document if isinstance(document, bytes) else json.dumps(document).encode()
                if status == 204:
                    answer = b""
                self.send_response(status)
                self.send_header("Content-Type", service.content_type)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer[: len(answer) // 2] if cut else answer)
                self.close_connection = cut

            do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = do_HEAD = handle_any

            def log_message(self, *args: object) -> None:
                """Keeps quiet."""

        return Handler
