"""What gunicorn's main process does on SIGHUP, so that no request waits for a worker that is still starting.

gunicorn starts new workers and stops the old ones at once. Loading the app takes seconds, many of them on a busy
machine, in which nobody would answer. Here the old ones serve until all of the new ones are ready.
"""

import contextlib
import os
import signal
from typing import Any

_PID = 8
"""Bytes. The pipe takes each whole, as they are so few."""


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
        """Process ids: of workers that have said so, and of those that were told to stop, which is done once."""
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
        for _ in range(server.num_workers - len(new)):  # those that have died meanwhile
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
