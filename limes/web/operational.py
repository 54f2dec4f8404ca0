"""`/healthcheck` and `/metrics`, the same in each process that speaks HTTP. Neither needs a token."""

import logging
import os
from typing import Any

import falcon
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from limes.db.engine import Engine
from limes.errors import Unavailable

log = logging.getLogger(__name__)

PUBLIC_PATHS = frozenset({"/healthcheck", "/metrics"})


class HealthcheckEndpoint:
    """200 `ok` while the process can do its work; 503 with one line while it cannot reach its database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Answers in plain text."""
        resp.content_type = "text/plain; charset=utf-8"
        resp.set_header("cache-control", "no-store")
        try:
            self._engine.ping()
        except Unavailable as error:
            resp.status = falcon.HTTP_503
            resp.text = f"{error}\n"
        else:
            resp.text = "ok\n"

    on_head = on_get
    """For load balancers: many of them ask by HEAD."""


class MetricsEndpoint:
    """Prometheus metrics of all workers of this server."""

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Answers in Prometheus' text format."""
        resp.data = render_metrics()
        resp.content_type = CONTENT_TYPE_PLAIN_0_0_4

    on_head = on_get


def render_metrics() -> bytes:
    """Returns the metrics of this process, or of all workers when `PROMETHEUS_MULTIPROC_DIR` is set."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    return generate_latest(registry)


def add_operational_routes(app: falcon.App[Any, Any], engine: Engine) -> None:
    """Adds the two routes to an app."""
    app.add_route("/healthcheck", HealthcheckEndpoint(engine))
    app.add_route("/metrics", MetricsEndpoint())
