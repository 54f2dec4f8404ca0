"""A stand-in for Keystone that does what a real one can't be made to do: hang, fail, and answer nonsense."""

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.http_server import HttpServer


def token_body(**changes: Any) -> dict[str, Any]:
    """The body of a project token that is good until 2099."""
    project = {"id": "p1", "name": "berlin", "domain": {"id": "d1", "name": "north"}}
    user = {"id": "u1", "name": "ada", "domain": {"id": "d1", "name": "north"}}
    body = {"methods": ["password"], "user": user, "project": project, "roles": [{"id": "r1", "name": "member"}]}
    return {"token": body | {"expires_at": "2099-01-01T00:00:00.000000Z"} | changes}


@dataclass
class FaultyKeystone:
    """Change the attributes to change what it does from the next request on."""

    url: str = ""
    validation: tuple[int, bytes] = (200, json.dumps(token_body()).encode())
    """Status and body for `GET /v3/auth/tokens`."""
    login: tuple[int, bytes] = (201, json.dumps(token_body()).encode())
    """The same for our own login, `POST /v3/auth/tokens`."""
    good_logins: set[str] = field(default_factory=set)
    """Own tokens that are accepted; empty: all of them."""
    hang: threading.Event | None = None
    """Requests wait until it is set."""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of everything that was asked."""
    subjects: list[str] = field(default_factory=list)
    """The tokens that were to be validated."""

    def count(self, method: str) -> int:
        """How many requests with this method there were."""
        return sum(one == method for one, _ in self.requests)

    def answer(self, method: str, headers: Any) -> tuple[int, bytes]:
        """Status and body for a request."""
        if self.hang is not None:
            self.hang.wait(30)
        if method == "POST":
            return self.login
        self.subjects.append(headers.get("X-Subject-Token", ""))
        if self.good_logins and headers.get("X-Auth-Token") not in self.good_logins:
            return 401, b'{"error": {"code": 401, "title": "Unauthorized", "message": "who are you?"}}'
        return self.validation


@contextlib.contextmanager
def faulty_keystone() -> Iterator[FaultyKeystone]:
    """Serves one on a free port."""
    keystone = FaultyKeystone()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            keystone.requests.append((self.command, self.path))
            status, body = keystone.answer(self.command, self.headers)
            with contextlib.suppress(ConnectionError):
                self.send_response(status)
                if self.command == "POST" and status == 201:
                    self.send_header("X-Subject-Token", f"own-token-{keystone.count('POST')}")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        do_GET = do_POST = _serve

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    server = HttpServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    keystone.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield keystone
    finally:
        if keystone.hang is not None:
            keystone.hang.set()
        server.shutdown()
        server.server_close()
