"""A small HTTP server with `/healthcheck` and `/metrics`, for processes that serve nothing else."""

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from http import HTTPStatus
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from msgspec import Struct, field
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.registry import Collector as MetricsSource

from limes.db.engine import Engine
from limes.kernel.metrics import render_metrics
from limes.reports.shared_figures import SharedFigures
from limes.web.packed import PackedText, accepts_gzip, pack
from limes.web.server import explain_failure, find_problem

log = logging.getLogger(__name__)


MOST_CONNECTIONS = 32
"""Open at the same time. Each has a thread."""
_HEAD_SECONDS, _PATIENCE, _ANSWER_SECONDS = 10.0, 60.0, 300.0
"""For the request's head; for an answer while others wait to be let in; and at most."""


class _Server(ThreadingMixIn, WSGIServer):
    """Has a limited number of connections, and closes those that send nothing or read nothing. When all are
    taken a new one takes the place of the one that has waited for longest for its client."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._lock = threading.Lock()
        self._asking: dict[Any, float] = {}
        """When they came, by connection; the oldest come first."""
        self._answered: dict[Any, float] = {}
        """The same, of those whose request is there: since then."""
        super().__init__(*args, **kwargs)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Starts a thread for a connection, or closes it."""
        now = time.monotonic()
        with self._lock:
            is_full = len(self._asking) + len(self._answered) >= MOST_CONNECTIONS
            has_room = (
                not is_full
                or self._close_first(self._asking, now)
                or self._close_first(self._answered, now - _PATIENCE)
            )
            if has_room:
                self._asking[request] = now
        if has_room:
            super().process_request(request, client_address)
        else:
            super().shutdown_request(request)

    def note_request(self, request: Any) -> None:
        """The head of its request is there."""
        with self._lock:
            if self._asking.pop(request, None) is not None:
                self._answered[request] = time.monotonic()

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._asking.pop(request, None)
            self._answered.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Closes what takes too long. Called twice a second."""
        now = time.monotonic()
        with self._lock:
            while self._close_first(self._asking, now - _HEAD_SECONDS):
                pass
            while self._close_first(self._answered, now - _ANSWER_SECONDS):
                pass

    def _close_first(self, connections: dict[Any, float], before: float) -> bool:
        """Makes the thread of the oldest connection end, if it came before then. Returns whether there was one."""
        request = next(iter(connections), None)
        if request is None or connections[request] > before:
            return False
        del connections[request]
        with contextlib.suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)
        return True


class _ServerV6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    server: _Server
    timeout = _HEAD_SECONDS
    """Of each wait for the client."""

    def handle(self) -> None:
        """As the library's; a client that is cut off, or has gone, is no error of ours."""
        with contextlib.suppress(OSError):
            super().handle()

    def get_environ(self) -> dict[str, Any]:
        """As the library's: called when the head has been read."""
        self.server.note_request(self.request)
        return super().get_environ()

    def log_message(self, format: str, *args: object) -> None:
        log.debug(format, *args)


Page = tuple[HTTPStatus, dict[str, str], Iterable[bytes]]
"""Status, headers and body."""
Show = Callable[[WSGIEnvironment], Page]


def _line(status: HTTPStatus, text: str, **headers: str) -> Page:
    body = f"{text}\n".encode()
    headers |= {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body))}
    return status, {**headers, "cache-control": "no-store"}, [body]


def _show_health(engine: Engine, environ: WSGIEnvironment) -> Page:
    problem = find_problem(engine, only_process="only=process" in environ["QUERY_STRING"].split("&"))
    return _line(HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK, problem or "ok")


def show_metrics(registry: CollectorRegistry, figures: SharedFigures | None, environ: WSGIEnvironment) -> Page:
    """The metrics of the process, of its registry, and the figures of the cloud."""
    found = figures.latest() if figures else None  # first, as the registry tells its age
    own = pack(render_metrics() + generate_latest(registry))
    answer = PackedText([own, *found.blocks] if found else [own])
    headers = {"content-type": CONTENT_TYPE_PLAIN_0_0_4, "vary": "Accept-Encoding", "content-length": str(answer.size)}
    if not accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING")):
        return HTTPStatus.OK, headers, answer.parts()
    packed = {"content-encoding": "gzip", "content-length": str(answer.gzip_size)}
    return HTTPStatus.OK, headers | packed, answer.gzip()


def _app(pages: Mapping[str, Show]) -> WSGIApplication:
    """Serves them by path. Falcon would take 3.4 MiB of a collector for this."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        show, method = pages.get(environ["PATH_INFO"]), environ["REQUEST_METHOD"]
        if show is None:
            page = _line(HTTPStatus.NOT_FOUND, "404 page not found")
        elif method not in ("GET", "HEAD"):
            page = _line(HTTPStatus.METHOD_NOT_ALLOWED, "Method Not Allowed", allow="GET, HEAD")
        else:
            page = show(environ)
        status, headers, body = page
        start_response(f"{status.value} {status.phrase}", [*headers.items()])
        return () if method == "HEAD" else body

    return answer


@contextmanager
def operational_server(
    listen: str, engine: Engine, metrics: Mapping[str, Show], setting: str = "collector.listen"
) -> Iterator[int]:
    """Serves on `HOST:PORT` while the block lasts, and yields the port. `metrics` are metrics by path. Raises
    `StartupError`, which names the setting, if it cannot listen."""
    app = _app({"/healthcheck": partial(_show_health, engine), **metrics})
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    try:
        server = make_server(
            host, int(port), app, server_class=_ServerV6 if ":" in host else _Server, handler_class=_Handler
        )
    except OSError as error:
        raise explain_failure(setting, listen, error) from error
    thread = threading.Thread(target=server.serve_forever, name="http", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


class MetricsProcess(Struct):
    """Serves `/healthcheck` and `/metrics` on `listen`; port 0 means any free one."""

    engine: Engine
    sources: Sequence[MetricsSource]
    figures: SharedFigures
    listen: str
    port: int = 0
    """Where it serves, after `start()`."""
    _running: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        """Begins to serve, and returns. Raises `StartupError` if the address cannot be used."""
        registry = CollectorRegistry()
        for source in (*self.sources, self.figures):
            registry.register(source)
        metrics = {"/metrics": partial(show_metrics, registry, self.figures)}
        server = operational_server(self.listen, self.engine, metrics, "metrics.listen")
        self.port = self._running.enter_context(server)
        log.info("metrics are served on port %d", self.port)

    def stop(self, grace: float = 0.0) -> bool:
        """Ends at once: a client that is cut off asks again."""
        self._running.close()
        log.info("metrics stopped")
        return True
