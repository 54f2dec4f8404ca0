"""The app for WSGI servers other than gunicorn: it works after forks, whatever starts it."""

import atexit
import importlib
import os
import threading
from collections.abc import Callable
from typing import Any

from prometheus_client import multiprocess

from limes.memory import tune_garbage_collector


class Application:
    """A WSGI app that is made at once, so that mistakes stop the start, and again in each process forked later.

    No process may use the database connections and the threads that another one has opened.
    """

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
        """So many bytes, or fewer at the body's end. Raises `OSError` if the client breaks off."""
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
