"""What a server's main process does beside serving: it checks its address, and gunicorn's drains before it stops, and
reloads without a pause.

Draining: first `/healthcheck` says 503, while requests are still answered, each as the last one of its connection: a
proxy that asks for it stops sending requests, and uses no old connection any more. Only then does gunicorn stop.

Reloading on SIGHUP: gunicorn starts new workers and stops the old ones at once. Loading the app takes seconds, many of
them on a busy machine, in which no request would be answered. Here the old ones serve until all of the new ones are
ready.
"""

import contextlib
import errno
import mmap
import os
import signal
import socket
from collections.abc import Callable
from typing import Any

from limes.db.engine import Engine
from limes.kernel.errors import StartupError, Unavailable

_ADVICE = {
    errno.EADDRINUSE: "stop what listens there (`ss -ltnp` shows it), or choose another address",
    errno.EACCES: "choose a port from 1024 on, or give the process the capability CAP_NET_BIND_SERVICE",
    errno.EADDRNOTAVAIL: "choose an address of this machine (`ip address` lists them)",
}
_VARIABLES = {
    "api.listen": "LIMES_API_LISTEN_ADDRESS",
    "placement.listen": "LIMES_PLACEMENT_LISTEN_ADDRESS",
    "collector.listen": "LIMES_COLLECTOR_METRICS_LISTEN_ADDRESS",
}
_PID = 8
"""Bytes. The pipe takes each whole, as they are so few."""


def require_free(setting: str, listen: str) -> None:
    """Raises `StartupError` if it is impossible to listen on `HOST:PORT`, which comes from this setting."""
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, int(port)))
    except OSError as error:
        raise explain_failure(setting, listen, error) from None


def explain_failure(setting: str, listen: str, error: OSError) -> StartupError:
    advice = _ADVICE.get(error.errno or 0, "choose another address")
    if setting in _VARIABLES:
        advice += f" ({_VARIABLES[setting]})"
    return StartupError(f"{setting}: cannot listen on {listen}: {error.strerror or error}; {advice}")


class Drain:
    """Whether this server is about to stop: set by gunicorn's main process, seen by its workers."""

    def __init__(self) -> None:
        self._flag = mmap.mmap(-1, 1)  # shared with processes that are forked later

    @property
    def is_on(self) -> bool:
        return self._flag[0] != 0

    def begin(self) -> None:
        self._flag[0] = 1


DRAIN = Drain()


def find_problem(engine: Engine, get_ready: Callable[[], None] = lambda: None, *, only_process: bool) -> str | None:
    """Returns why this process cannot do its work, for `/healthcheck`: it cannot reach its database, or is about to
    stop. With `only_process` the database does not count. That is for proxies: while it is away all hosts are equally
    well, and their own 503 says more than that of a proxy that has no host left."""
    if DRAIN.is_on:
        return "about to stop"
    try:
        if not only_process:
            engine.ping()
            get_ready()
    except Unavailable as error:
        return str(error)
    return None


def drain_before_stop(server: Any, seconds: float) -> None:
    """Has gunicorn's main process wait for so long between SIGTERM and the stop. A second SIGTERM stops at once."""

    def begin(number: int, frame: Any) -> None:
        if DRAIN.is_on:
            server.signal(number, frame)
            return
        DRAIN.begin()
        signal.signal(signal.SIGALRM, lambda *_: server.signal(signal.SIGTERM, None))
        signal.setitimer(signal.ITIMER_REAL, seconds)

    signal.signal(signal.SIGTERM, begin)


class Reload:
    """Replaces how gunicorn's main process counts its workers. Workers say through a pipe that they are ready."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._manage, self._reload = server.manage_workers, server.reload
        self._grace = server.cfg.graceful_timeout
        self._newest_old = 0
        """The age of the newest worker that is to be replaced. Ages are numbers in order of the starts."""
        self._ready: set[int] = set()
        self._told: set[int] = set()
        """Process ids: of workers that have said so, and of workers that were asked to stop, which is done once."""
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        server.manage_workers, server.reload = self.manage_workers, self.reload

    def tell_ready(self) -> None:
        """In a worker: it can answer from now on."""
        os.write(self._writer, os.getpid().to_bytes(_PID, "big"))

    def reload(self) -> None:
        """As gunicorn's, which ends with waiting, deaf to signals, until the old workers are gone. Here they go on."""
        self._newest_old = self._server.worker_age
        self._server.manage_workers = self._do_not_wait
        try:
            self._reload()
        finally:
            self._server.manage_workers = self.manage_workers
            self._server.cfg.set("graceful_timeout", self._grace)

    def _do_not_wait(self) -> None:
        self.manage_workers()
        self._server.cfg.set("graceful_timeout", 0)

    def manage_workers(self) -> None:
        """As gunicorn's, until a reload; then old workers are stopped when as many new ones as wanted are ready."""
        server = self._server
        workers = list(server.WORKERS.values())
        self._note_ready({worker.pid for worker in workers})
        old = [worker for worker in workers if worker.age <= self._newest_old]
        if not old:
            self._manage()
            return
        new = {worker.pid for worker in workers} - {worker.pid for worker in old}
        for _ in range(server.num_workers - len(new)):  # for workers that have died meanwhile
            server.spawn_worker()
        if len(new) >= server.num_workers and new <= self._ready:
            for pid in {worker.pid for worker in old} - self._told:
                self._told.add(pid)
                server.kill_worker(pid, signal.SIGTERM)

    def _note_ready(self, alive: set[int]) -> None:
        with contextlib.suppress(BlockingIOError):
            while pid := os.read(self._reader, _PID):
                self._ready.add(int.from_bytes(pid, "big"))
        self._ready &= alive
        self._told &= alive
