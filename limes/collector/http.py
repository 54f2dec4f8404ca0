"""A small HTTP server with `/healthcheck` and `/metrics`, for processes that serve nothing else."""

import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import falcon
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest

from limes.db.engine import Engine
from limes.metrics.data import DataMetrics
from limes.metrics.text import spool
from limes.web.call import BodyStream
from limes.web.compression import accepts_gzip, compress_parts
from limes.web.listening import explain_failure
from limes.web.operation import Router
from limes.web.operational import HealthcheckEndpoint, render_metrics

log = logging.getLogger(__name__)

_PART = 256 * 1024
"""Bytes that are compressed at a time."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _ServerV6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        log.debug(format, *args)


class MetricsEndpoint:
    """The metrics of the process, of its registry, and of the cloud."""

    def __init__(self, registry: CollectorRegistry, data: DataMetrics | None = None) -> None:
        self._registry = registry
        self._data = data

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Answers in Prometheus' text format."""
        resp.content_type = CONTENT_TYPE_PLAIN_0_0_4
        own = render_metrics() + generate_latest(self._registry)
        file = spool(own, self._data.write if self._data is not None else None)
        size = file.seek(0, os.SEEK_END)
        resp.append_header("vary", "Accept-Encoding")
        if req.method == "HEAD":
            file.close()
            resp.content_length = size
            return
        file.seek(0)
        if accepts_gzip(req.get_header("Accept-Encoding")):
            resp.set_header("content-encoding", "gzip")
            stream = BodyStream(part for part in iter(partial(file.read, _PART), b""))
            stream.encode(compress_parts)
            stream.on_close(file.close)
            resp.stream = stream
        else:
            resp.set_stream(file, size)


@contextmanager
def operational_server(
    listen: str,
    engine: Engine,
    registry: CollectorRegistry,
    data: DataMetrics | None = None,
    setting: str = "collector.listen",
) -> Iterator[int]:
    """Serves on `HOST:PORT` while the block lasts, and yields the port. Raises `StartupError`, which names the setting,
    if it cannot listen."""
    app = falcon.App(router=Router(head=True))
    app.add_route("/healthcheck", HealthcheckEndpoint(engine))
    app.add_route("/metrics", MetricsEndpoint(registry, data))
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
