"""What is served beside an API's table: `/healthcheck` and `/metrics`, the same in each process that speaks HTTP, and
mounts, such as the dashboard's pages. None of it needs a token.
"""

import os
import threading
import time
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

import falcon
from msgspec import Struct, field
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from limes.db.engine import Engine
from limes.kernel.metrics import WORKERS_FILES, render_metrics
from limes.web.server import find_problem

PUBLIC_PATHS = frozenset({"/healthcheck", "/metrics"})
_MAX_AGE = 1.0
"""Of metrics, in seconds."""


class HealthcheckEndpoint(Struct, frozen=True):
    """200 `ok` while the process can do its work; otherwise 503 with one line (`find_problem`). `?only=process` is
    about the process alone."""

    engine: Engine
    get_ready: Callable[[], None] = lambda: None
    """Does what is to be done before the first answer. It raises `Unavailable` if that fails."""

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        problem = find_problem(self.engine, self.get_ready, only_process=req.get_param("only") == "process")
        resp.content_type = "text/plain; charset=utf-8"
        resp.set_header("cache-control", "no-store")
        resp.status = falcon.HTTP_503 if problem else falcon.HTTP_200
        resp.text = f"{problem or 'ok'}\n"

    on_head = on_get
    """For load balancers: many of them ask by HEAD."""


class MetricsEndpoint:
    """Prometheus metrics of all workers of this server, at most a second old. They come from a file for each worker,
    which makes this the most expensive request that needs no token."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[float, bytes] | None = None
        """When they were read, by the monotonic clock."""

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        if WORKERS_FILES in os.environ:
            with self._lock:
                now = time.monotonic()
                if self._known is None or now - self._known[0] >= _MAX_AGE:
                    self._known = (now, render_metrics())
                resp.data = self._known[1]
        else:
            resp.data = render_metrics()
        resp.content_type = CONTENT_TYPE_PLAIN_0_0_4

    on_head = on_get


def add_operational_routes(
    app: falcon.App[Any, Any], engine: Engine, get_ready: Callable[[], None] = lambda: None
) -> None:
    app.add_route("/healthcheck", HealthcheckEndpoint(engine, get_ready))
    app.add_route("/metrics", MetricsEndpoint())


class Mount(Struct, frozen=True):
    """Everything below one path."""

    prefix: str
    """Such as `/ui`, without a slash at its end."""
    routes: tuple[tuple[str, Any], ...]
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of each answer below the prefix, errors included."""


class MountMiddleware:
    def __init__(self, mounts: Iterable[Mount]) -> None:
        self._headers = [(f"{mount.prefix}/", dict(mount.headers)) for mount in mounts]

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        for prefix, headers in self._headers:
            if f"{req.path}/".startswith(prefix):
                resp.set_headers(headers)


class PublicPaths(Container[str]):
    """The paths that need no token: some by name, and all of the mounts."""

    def __init__(self, exact: Iterable[str], mounts: Iterable[Mount] = ()) -> None:
        self._exact = frozenset(exact)
        self._prefixes = tuple(f"{mount.prefix}/" for mount in mounts)

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        return path in self._exact or f"{path}/".startswith(self._prefixes)
