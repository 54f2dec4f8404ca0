"""The backend of the fault tests: it keeps quotas, writes down every call, and misbehaves when it is told to."""

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.http_server import HttpServer

NONSENSE = (
    b"",
    b"<html>It works!</html>",
    b"[]",
    b"null",
    b'{"cores": {"usage": -1, "quota": 5}, "ram": {"usage": 0, "quota": 0}}',
    b'{"cores": {"usage": 1.5, "quota": 5}, "ram": {"usage": 0, "quota": 0}}',
    b'{"cores": {"usage": 1, "quota": "many"}, "ram": {"usage": 0, "quota": 0}}',
    b'{"cores": {"usage": 1e30, "quota": 5}, "ram": {"usage": 0, "quota": 0}}',
    b'{"cores": {"usage": true, "quota": 5}, "ram": {"usage": 0, "quota": 0}}',
    b'{"cores": {"usage": 1, "quota": 5}}',
)


@dataclass(frozen=True)
class Call:
    """A call that was answered. Times are monotonic."""

    method: str
    service: str
    project: str
    began: float
    ended: float
    cores: int | None
    """The quota that was written."""


@dataclass
class FakeBackend:
    """Change the attributes to change what it does from the next request on."""

    url: str = ""
    delay: float = 0.0
    """Seconds that each call takes."""
    hanging: set[str] = field(default_factory=set)
    """Services whose calls are not answered."""
    nonsense: set[str] = field(default_factory=set)
    """Services whose reports make no sense."""
    quotas: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    waiting: int = 0
    """Calls that hang just now."""
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, service: str, project: str, body: Any) -> bytes | None:
        """The body of the answer; None: hang up without one."""
        began = time.monotonic()
        if service in self.hanging:
            return self._hang(service)
        time.sleep(self.delay)
        with self._lock:
            quotas = self.quotas.setdefault((service, project), {"cores": 0, "ram": 0})
            if method == "PUT":
                quotas.update(body)
            cores = quotas["cores"] if method == "PUT" else None
            self.calls.append(Call(method, service, project, began, time.monotonic(), cores))
            if method == "GET" and service in self.nonsense:
                return NONSENSE[next(self._numbers) % len(NONSENSE)]
            return json.dumps({name: {"usage": 1, "quota": quota} for name, quota in quotas.items()}).encode()

    def _hang(self, service: str) -> None:
        with self._lock:
            self.waiting += 1
        while service in self.hanging:
            time.sleep(0.05)
        with self._lock:
            self.waiting -= 1

    def count(self, method: str, service: str) -> int:
        """How many calls were answered."""
        return sum((call.method, call.service) == (method, service) for call in list(self.calls))

    def contradictions(self) -> list[tuple[Call, Call]]:
        """Pairs of writes of one project's quota that were under way at the same time with different values, or of
        which the later one took back what the earlier one had written (quotas only grow in these tests)."""
        found = []
        latest: dict[tuple[str, str], Call] = {}
        for call in sorted((one for one in self.calls if one.method == "PUT"), key=lambda one: one.began):
            before = latest.get((call.service, call.project))
            if before is not None and call.cores != before.cores:
                assert call.cores is not None
                assert before.cores is not None
                if call.began < before.ended or call.cores < before.cores:
                    found.append((before, call))
            latest[call.service, call.project] = call
        return found

    def scraped_at_once(self) -> list[Call]:
        """Reports that were asked for while the same one was being made for somebody else."""
        found = []
        busy_until: dict[tuple[str, str], float] = {}
        for call in sorted((one for one in self.calls if one.method == "GET"), key=lambda one: one.began):
            if call.began < busy_until.get((call.service, call.project), 0.0):
                found.append(call)
            busy_until[call.service, call.project] = call.ended
        return found


@contextlib.contextmanager
def fake_backend() -> Iterator[FakeBackend]:
    """Serves one on a free port."""
    backend = FakeBackend()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            _, service, project = self.path.split("/")
            data = backend.answer(self.command, service, project, body)
            if data is None:
                return
            with contextlib.suppress(ConnectionError):
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        do_GET = do_PUT = _serve

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    server = HttpServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.request_queue_size = 100
    backend.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield backend
    finally:
        backend.hanging.clear()
        server.shutdown()
        server.server_close()
