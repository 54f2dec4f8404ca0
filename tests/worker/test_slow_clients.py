"""Hundreds of clients that take their time hold up nobody else.

For 40 rounds of requests to each kind of process. A thread that waited for one of them would wait longer than we wait
for an answer. LIMES_SLOW_SECONDS=60 tries each kind of client by itself for a minute, with a bound for idle machines;
the figures are printed (`-s`).
"""

import os
import socket
import statistics
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from tests.support.levels import few_of
from tests.web.house import API, KINDS, TOKEN, Kind, running
from tests.worker import slow

SECONDS = float(os.environ.get("LIMES_SLOW_SECONDS", "0"))
BOUND = 0.2 if SECONDS else 60.0
ROUNDS = 40
FOR_EVER: dict[str, float] = {} if SECONDS else {"header_timeout": 600, "body_timeout": 600, "send_timeout": 600}
MANY = 200


def crowd(what: str, port: int, kind: Kind) -> list[slow.SlowClient]:
    """Slow ones, and as many that say nothing."""
    makers = {
        "heads": lambda: slow.header_slow(port),
        "bodies": lambda: slow.body_slow(port, kind.put),
        "chunks": lambda: slow.chunk_slow(port, kind.put),
        "readers": lambda: slow.reading_slow(port, kind.large, TOKEN),
    }
    chosen = list(makers.values()) if what == "all" else [makers[what]]
    return [chosen[number % len(chosen)]() for number in range(MANY)] + [slow.idle(port) for _ in range(MANY)]


def ask(port: int, kind: Kind) -> dict[str, list[float]]:
    """How long answers take, each on a connection of its own and on a kept one."""
    took: dict[str, list[float]] = {}
    session = requests.Session()
    until = time.monotonic() + SECONDS
    rounds = 0
    while rounds < ROUNDS or time.monotonic() < until:
        rounds += 1
        for get, how in ((requests.get, "new"), (session.get, "kept")):
            for path in ("/healthcheck", kind.get):
                began = time.monotonic()
                answer = get(f"http://127.0.0.1:{port}{path}", headers={"X-Auth-Token": TOKEN}, timeout=60)
                took.setdefault(f"{path} on a {how} connection", []).append(time.monotonic() - began)
                assert answer.status_code == 200, answer.text
        time.sleep(0.02)
    return took


def p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[98]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", ["heads", "bodies", "chunks", "readers"] if SECONDS else ["all"])
@pytest.mark.parametrize("kind", few_of(KINDS, 1), ids=lambda kind: kind.name)
def test_others_do_not_wait(kind: Kind, what: str, tmp_path: Path) -> None:
    with running(kind, tmp_path, **FOR_EVER) as (port, process), slow.SlowClients(crowd(what, port, kind)):
        took = ask(port, kind)
        log = process.log_text()
    for name, values in took.items():
        print(f"{kind.name}, {what}: {name}: p99 {1000 * p99(values):.1f} ms of {len(values)}")
    assert max(p99(values) for values in took.values()) < BOUND
    assert "Traceback" not in log


SHORT = {"header_timeout": 1, "body_timeout": 1, "send_timeout": 1}


def test_who_is_too_slow_hears_of_it(tmp_path: Path) -> None:
    openings = (b"GET / HTTP/1.1\r\nHost: x\r\n", b"PUT / HTTP/1.1\r\nContent-Length: 9\r\n\r\n1", b"")
    with running(API, tmp_path, **SHORT) as (port, _), ExitStack() as stack:
        clients = []
        for opening in openings:
            clients.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60)))
            clients[-1].sendall(opening)
        *told, nothing = [client.recv(65536) for client in clients]
    assert nothing == b""
    for heard in told:
        assert heard[9:12] == b"408"
        assert b'"detail":"the ' in heard
        assert b"took too long to arrive" in heard
        assert b"application/json" in heard
