"""The worker class under a real gunicorn: kept connections, fairness, stopping."""

import http.client
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import ServerProcess, eventually, free_port, http_answers

APP = """
import os
import threading
import time

from limes.web.worker import thread_worker as worker

worker.STAY_SECONDS = float(os.environ.get("STAY_SECONDS", worker.STAY_SECONDS))

class Halting(list):
    def __iter__(self):
        for part in super().__iter__():
            yield part
            time.sleep(0.03)

def app(environ, start_response):
    if environ["PATH_INFO"] == "/slow":
        open(os.path.join(os.path.dirname(__file__), "begun"), "w").close()
        time.sleep(0.3)
    body = str(threading.get_ident()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return Halting([body[:1], body[1:]]) if environ["PATH_INFO"] == "/parts" else [body]
"""


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[int, ServerProcess]]:
    """A port, and the gunicorn with one worker that listens on it. The parameter is the number of threads; more in
    the environment."""
    threads, env = request.param if isinstance(request.param, tuple) else (request.param, {})
    (tmp_path / "echo.py").write_text(APP)
    port = free_port()
    options = ["-b", f"127.0.0.1:{port}", "--keep-alive", "60", "--threads", str(threads), "--no-control-socket"]
    options += ["-k", "limes.web.worker.thread_worker.KeepAliveWorker"]
    process = ServerProcess(
        [sys.executable, "-m", "gunicorn", *options, "echo:app"],
        ready=http_answers(f"http://127.0.0.1:{port}"),
        log=tmp_path / "gunicorn.log",
        env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), **env},
    )
    with process:
        yield port, process


def ask(connection: http.client.HTTPConnection, path: str = "/") -> str:
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.status == 200
    return answer.read().decode()


@pytest.mark.parametrize("server", [(8, {"STAY_SECONDS": "200"})], indirect=True)
def test_one_client_is_served_by_one_thread(server: tuple[int, ServerProcess]) -> None:
    port, _ = server
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=200)
    threads = [ask(connection) for _ in range(60)]
    assert len(set(threads)) == 1


@pytest.mark.parametrize("server", [1, 2, 3], indirect=True)
def test_more_kept_connections_than_threads_are_all_served(server: tuple[int, ServerProcess]) -> None:
    port, _ = server
    connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=200) for _ in range(12)]
    for _ in range(5):
        for connection in connections:
            ask(connection)
    done: list[str] = []

    def client(connection: http.client.HTTPConnection) -> None:
        done.extend(ask(connection) for _ in range(20))

    clients = [threading.Thread(target=client, args=[connection]) for connection in connections]
    for one in clients:
        one.start()
    for one in clients:
        one.join(200)
    assert len(done) == 12 * 20


@pytest.mark.parametrize("server", [4], indirect=True)
def test_a_busy_connection_does_not_hold_up_a_new_one(server: tuple[int, ServerProcess]) -> None:
    port, _ = server
    stop = threading.Event()

    def hurry() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=200)
        while not stop.is_set():
            ask(connection)

    clients = [threading.Thread(target=hurry) for _ in range(8)]
    for one in clients:
        one.start()
    try:
        for _ in range(20):
            ask(http.client.HTTPConnection("127.0.0.1", port, timeout=200))
    finally:
        stop.set()
        for one in clients:
            one.join()


@pytest.mark.parametrize("server", [2], indirect=True)
def test_two_requests_sent_at_once_are_both_answered(server: tuple[int, ServerProcess]) -> None:
    port, _ = server
    with socket.create_connection(("127.0.0.1", port), timeout=200) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
        data = b""
        while data.count(b"200 OK") < 2:
            data += client.recv(4096)


@pytest.mark.parametrize("server", [2], indirect=True)
def test_a_small_answer_comes_in_one_piece(server: tuple[int, ServerProcess]) -> None:
    port, _ = server
    for connection in ("keep-alive", "close"):
        whole = 0
        for _ in range(100):  # not each is whole: the kernel waits for 0.2 s only, and a busy machine may take longer
            with socket.create_connection(("127.0.0.1", port), timeout=200) as client:
                client.sendall(f"GET /parts HTTP/1.1\r\nHost: x\r\nConnection: {connection}\r\n\r\n".encode())
                head, _, body = client.recv(65536).partition(b"\r\n\r\n")
                assert b"200 OK" in head
                whole += len(body) > 1
            if whole == 2:
                break
        assert whole == 2


@pytest.mark.parametrize("server", [2], indirect=True)
def test_an_answer_does_not_wait_for_a_body_that_is_too_long_for_anybody(server: tuple[int, ServerProcess]) -> None:
    port, _ = server
    for _ in range(100):  # a busy machine needs some
        with socket.create_connection(("127.0.0.1", port), timeout=200) as client:
            started = time.monotonic()
            client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
            assert b"200 OK" in client.recv(65536)
            if time.monotonic() - started < 0.19:
                return
    raise AssertionError("the kernel holds it back for 0.2 seconds")


@pytest.mark.parametrize("server", [2], indirect=True)
def test_a_stopping_worker_answers_what_it_has_begun(server: tuple[int, ServerProcess]) -> None:
    port, process = server
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=200)
    ask(connection)
    answers: list[str] = []
    client = threading.Thread(target=lambda: answers.append(ask(connection, "/slow")))
    client.start()
    eventually("it is begun", (process.log.parent / "begun").exists)
    os.kill(process.pid, signal.SIGTERM)
    client.join(200)
    assert len(answers) == 1
