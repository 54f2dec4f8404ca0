"""What the HTTP APIs measure of their requests, under the names of the original."""

from functools import lru_cache

import falcon
from prometheus_client import Gauge, Histogram

from limes.db.engine import Engine

_LABELS = ["app", "method", "status", "endpoint"]
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_BYTES = (256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)

FIRST_BYTE = Histogram(
    "httpmux_first_byte_seconds", "Time until the answer's first byte is ready", _LABELS, buckets=_SECONDS
)
DURATION = Histogram(
    "httpmux_response_duration_seconds", "Time until the whole answer is ready", _LABELS, buckets=_SECONDS
)
REQUEST_SIZE = Histogram("httpmux_request_size_bytes", "Size of the request's body", _LABELS, buckets=_BYTES)
RESPONSE_SIZE = Histogram("httpmux_response_size_bytes", "Size of the answer's body", _LABELS, buckets=_BYTES)

_POOL = {
    name: Gauge(f"go_sql_stats_connections_{name}", text, ["db_name"], multiprocess_mode="livesum")
    for name, text in (
        ("max_open", "Maximum number of database connections, over all workers"),
        ("open", "Open database connections"),
        ("in_use", "Database connections in use"),
        ("idle", "Idle database connections"),
    )
}


class PoolGauges:
    """The state of one pool of database connections, under the names of the original."""

    def __init__(self, db_name: str, engine: Engine) -> None:
        self._engine = engine
        self._max_open, self._open, self._in_use, self._idle = (gauge.labels(db_name) for gauge in _POOL.values())
        self._shown: tuple[int, int] | None = None

    def update(self) -> None:
        """Shows the present state. Called after each request, by the worker whose pool it is."""
        in_use, idle = use = self._engine.pool_use()
        if use == self._shown:  # mostly so; setting a value costs as much as the rest of this method
            return
        self._shown = use
        self._max_open.set(self._engine.pool_size)
        self._open.set(in_use + idle)
        self._in_use.set(in_use)
        self._idle.set(idle)


@lru_cache(maxsize=4096)
def _series(*labels: str) -> list[Histogram]:
    return [histogram.labels(*labels) for histogram in (FIRST_BYTE, DURATION, REQUEST_SIZE, RESPONSE_SIZE)]


def observe(
    app: str, req: falcon.Request, resp: falcon.Response, seconds: float, streamed: tuple[float, int] | None = None
) -> None:
    """Counts one request and the seconds until its answer.

    Of an answer that was made while it was sent, `streamed` is when its first byte was ready, and its size. The first
    byte of any other is ready when the last one is.
    """
    # clients can make up any number of methods and paths, and each label is kept for ever
    method = req.method if req.method in falcon.HTTP_METHODS else "other"
    first_byte, duration, request_size, response_size = _series(
        app, method, str(resp.status_code), req.uri_template or "-"
    )
    first_byte.observe(seconds if streamed is None else streamed[0])
    duration.observe(seconds)
    request_size.observe(req.content_length or 0)
    body = resp.render_body() if streamed is None else None
    response_size.observe(streamed[1] if streamed else len(body or b""))
