"""Composition roots for WSGI servers.

gunicorn calls `limes.wsgi:limes_app()`, `placement_app()` and `liquid_app()`. Other servers, such as uWSGI and
mod_wsgi, take the `application` of the modules `limes.wsgi.api`, `limes.wsgi.placement` and `limes.wsgi.liquid`. All of
them read `LIMES_CONFIG`.
"""

import atexit
import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from prometheus_client import multiprocess

from limes.app.composition.common import load_any_settings, load_settings, set_up_logs
from limes.app.settings import Settings
from limes.kernel.errors import LimesError
from limes.kernel.system import tune_garbage_collector

log = logging.getLogger("limes")

_APP_LOAD_ERROR = 4
"""The exit code by which gunicorn understands that starting another worker is no use."""


class Application:
    """A WSGI app that is made at once, so that mistakes stop the start, and again in each process forked later. No
    process may use the database connections and the threads that another one has opened."""

    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._inherited: list[Any] = []
        """Other processes' apps. They are kept: to forget them would end connections that are not ours."""
        atexit.register(_forget_metrics)
        self._make()

    def _make(self) -> None:
        self._app = self._build()
        self._pid = os.getpid()
        tune_garbage_collector()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        if self._pid != os.getpid() and not self._is_made_anew():
            start_response("503 Service Unavailable", [("Content-Type", "text/plain"), ("Retry-After", "5")])
            return [b"the service cannot start; its log has the reason\n"]
        if "uwsgi.version" in environ and "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
            environ["wsgi.input"] = _UwsgiChunks()
        return self._app(environ, start_response)

    def _is_made_anew(self) -> bool:
        with self._lock:
            if self._pid != os.getpid():
                inherited = self._app
                try:
                    self._make()
                except SystemExit:  # the next request tries again
                    return False
                self._inherited.append(inherited)
            return True


class _UwsgiChunks:
    """A body in chunks, which uWSGI 2.0 leaves out of `wsgi.input`."""

    def __init__(self) -> None:
        self._chunked_read: Callable[[], bytes] = importlib.import_module("uwsgi").chunked_read
        self._rest = bytearray()

    def read(self, size: int = -1) -> bytes:
        """Returns `size` bytes, or fewer at the body's end. Raises `OSError` if the client breaks off."""
        while (size < 0 or len(self._rest) < size) and (chunk := self._chunked_read()):
            self._rest += chunk
        end = len(self._rest) if size < 0 else size
        data = bytes(self._rest[:end])
        del self._rest[:end]
        return data


def _forget_metrics() -> None:
    """Tells the metrics of the other processes that this one is gone, as gunicorn does for its workers."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.mark_process_dead(os.getpid())


def limes_app() -> Any:
    from limes.app.api import create_app
    from limes.app.composition.api import build_api

    return _start(lambda settings: create_app(build_api(settings)))


def placement_app() -> Any:
    from limes.app.composition.placement import build_placement
    from limes.placement.app import create_app

    return _start(lambda settings: create_app(build_placement(settings)), load_any_settings)


def liquid_app() -> Any:
    """Returns the LIQUID protocol for the service that `LIMES_LIQUID_SERVICE` names."""
    from limes.app.composition.liquid import build_liquid
    from limes.app.liquid.app import create_app

    return _start(lambda settings: create_app(build_liquid(settings)))


def _start(build: Callable[[Settings], Any], load: Callable[[], Settings] = load_settings) -> Any:
    try:
        settings = load()
        set_up_logs(settings)
        return build(settings)
    except LimesError as error:
        log.critical("cannot start: %s", error)
        sys.exit(_APP_LOAD_ERROR)
