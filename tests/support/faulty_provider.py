"""A stand-in for an OpenID provider that does what a real one can't be made to do: lie, fail, and answer nonsense."""

import base64
import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs

from tests.support.http_server import HttpServer

FAR = 4_000_000_000


@dataclass
class FaultyProvider:
    """Change the attributes to change what it does from the next request on."""

    url: str = ""
    discovery: dict[str, Any] = field(default_factory=dict)
    """What differs from a good discovery document."""
    claims: dict[str, Any] = field(default_factory=dict)
    """What differs from good claims in an id_token. A good nonce is for the test to put there."""
    token: tuple[int, Any] | None = None
    """Status and body instead of good tokens."""
    hang: threading.Event | None = None
    """Requests wait until it is set."""
    asked: list[tuple[str, dict[str, str], str]] = field(default_factory=list)
    """Path, form and `Authorization` of every request."""

    def document(self) -> dict[str, Any]:
        endpoints = {f"{name}_endpoint": f"{self.url}/{name}" for name in ("authorization", "token", "end_session")}
        return {"issuer": self.url, **endpoints, **self.discovery}

    def tokens(self) -> dict[str, Any]:
        claims = {"iss": self.url, "aud": "limes", "exp": FAR, "sub": "ada", **self.claims}
        payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
        return {"access_token": "bert", "token_type": "Bearer", "id_token": f"e30.{payload}.sig"}

    def answer(self, path: str) -> tuple[int, Any]:
        if path == "/.well-known/openid-configuration":
            return 200, self.document()
        return self.token or (200, self.tokens())


@contextlib.contextmanager
def faulty_provider() -> Iterator[FaultyProvider]:
    """Serves one on a free port."""
    provider = FaultyProvider()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())
            fields = {name: values[0] for name, values in form.items()}
            provider.asked.append((self.path, fields, self.headers.get("Authorization", "")))
            if provider.hang is not None:
                provider.hang.wait(30)
            status, document = provider.answer(self.path)
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = _serve

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    server = HttpServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield provider
    finally:
        if provider.hang is not None:
            provider.hang.set()
        server.shutdown()
        server.server_close()
