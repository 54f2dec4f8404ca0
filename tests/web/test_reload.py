"""SIGHUP replaces the workers, and nobody notices."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.support.levels import few_of
from tests.support.processes import children_of, eventually
from tests.web.house import PLACEMENT, TOKEN, running

pytestmark = [pytest.mark.process, pytest.mark.timeout(500)]

SLOW_START = """
import os, sys, time
import limes.kernel.system
_tune = limes.kernel.system.tune_garbage_collector

def tune_garbage_collector():
    _tune()
    is_worker = sys._getframe(1).f_code.co_name == "post_worker_init"
    while is_worker and os.path.exists({gate!r}):
        time.sleep(0.02)

limes.kernel.system.tune_garbage_collector = tune_garbage_collector
"""
"""Workers are not ready while a file is there, as on a machine that is too busy to load the app."""


class Client:
    """Asks all the time. `kept` says whether on one connection."""

    def __init__(self, url: str, kept: bool) -> None:
        self.answered = 0
        self.wrong: list[str] = []
        self._url, self._kept = url, kept
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        with requests.Session() as session:
            session.trust_env = False
            session.headers["X-Auth-Token"] = TOKEN
            if not self._kept:
                session.headers["Connection"] = "close"
            while not self._over.is_set():
                try:
                    status = session.get(self._url, timeout=200).status_code
                except requests.RequestException as error:
                    self.wrong.append(repr(error))
                    continue
                self.answered += 1
                if status != 200:
                    self.wrong.append(str(status))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join(200)


@pytest.mark.parametrize("reloads", few_of([1, 3], 1))
def test_no_request_is_refused_or_lost(tmp_path: Path, reloads: int) -> None:
    gate = tmp_path / "gate"
    (tmp_path / "sitecustomize.py").write_text(SLOW_START.format(gate=str(gate)))
    with running(PLACEMENT, tmp_path, path=str(tmp_path)) as (port, process):
        url = f"http://127.0.0.1:{port}/resource_providers"
        clients = [Client(url, kept) for kept in (True, True, False, False)]
        with clients[0].at_work(), clients[1].at_work(), clients[2].at_work(), clients[3].at_work():
            for _ in range(reloads):
                eventually("there are two", lambda: len(children_of(process.pid)) == 2)
                old = set(children_of(process.pid))
                gate.touch()
                os.kill(process.pid, signal.SIGHUP)
                eventually("new workers start", lambda old=old: len(set(children_of(process.pid)) - old) == 2)
                before = [client.answered for client in clients]
                for client, number in zip(clients, before, strict=True):
                    eventually("the old ones answer", lambda c=client, n=number: c.answered >= n + 20)
                assert old <= set(children_of(process.pid))
                gate.unlink()
                eventually("the old ones end", lambda old=old: not old & set(children_of(process.pid)))
                before = [client.answered for client in clients]
                for client, number in zip(clients, before, strict=True):
                    eventually("the new ones answer", lambda c=client, n=number: c.answered >= n + 20)
        assert [client.wrong for client in clients] == [[]] * 4
        process.terminate()
        assert process.wait() == 0
