"""A small HTTP server with `/healthcheck` and `/metrics`, for processes that serve nothing else."""

import logging
import socket
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import falcon
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest

from limes.db.engine import Engine
from limes.metrics.shared import Reading, SharedFigures
from limes.web.call import BodyStream
from limes.web.compression import accepts_gzip, compress_parts
from limes.web.listening import explain_failure
from limes.web.operation import Router
from limes.web.operational import HealthcheckEndpoint, render_metrics

log = logging.getLogger(__name__)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _ServerV6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        log.debug(format, *args)


class MetricsEndpoint:
    """The metrics of the process, of its registry, and the figures of the cloud."""

    def __init__(self, registry: CollectorRegistry, figures: SharedFigures | None = None) -> None:
        self._registry = registry
        self._figures = figures

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Answers in Prometheus' text format."""
        resp.content_type = CONTENT_TYPE_PLAIN_0_0_4
        reading = self._figures.latest() if self._figures else None  # first, as the registry tells its age
        own = render_metrics() + generate_latest(self._registry)
        size = len(own) + (reading.size if reading else 0)
        resp.append_header("vary", "Accept-Encoding")
        if req.method == "HEAD":
            resp.content_length = size
            return
        stream = BodyStream(_parts(own, reading))
        if accepts_gzip(req.get_header("Accept-Encoding")):
            resp.set_header("content-encoding", "gzip")
            stream.encode(compress_parts)
        else:
            resp.content_length = size
        resp.stream = stream


def _parts(own: bytes, reading: Reading | None) -> Generator[bytes, None, None]:
    yield own
    if reading:
        yield from reading.parts()


@contextmanager
def operational_server(
    listen: str,
    engine: Engine,
    metrics: Mapping[str, MetricsEndpoint],
    setting: str = "collector.listen",
) -> Iterator[int]:
    """Serves on `HOST:PORT` while the block lasts, and yields the port. `metrics` are metrics by path. Raises
    `StartupError`, which names the setting, if it cannot listen."""
    app = falcon.App(router=Router(head=True))
    app.add_route("/healthcheck", HealthcheckEndpoint(engine))
    for path, endpoint in metrics.items():
        app.add_route(path, endpoint)
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
