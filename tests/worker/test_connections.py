"""The worker class under a real gunicorn: how connections come, go on and part, at the level of HTTP."""

import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.processes import ServerProcess, eventually, free_port

APP = """
def app(environ, start_response):
    body = environ["wsgi.input"].read()
    path = environ["PATH_INFO"]
    if path == "/large":
        body = b"x" * 5_000_000
    if path == "/fails":
        raise ValueError("a secret")
    text = b"%s %s %d " % (environ["SCRIPT_NAME"].encode(), path.encode(), len(body)) + body
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text]
"""
CONF = """
from limes.web.worker.client_socket import Limits
from limes.web.worker.thread_worker import with_limits
worker_class = with_limits(Limits({limits}))
threads = 2
keepalive = 30
graceful_timeout = 50
control_socket_disable = True
forwarder_headers = ""
{more}
"""
Server = Callable[..., tuple[int, ServerProcess]]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Server]:
    """Starts a gunicorn with these limits."""
    with ExitStack() as stack:

        def start(limits: str = "", more: str = "", **env: str) -> tuple[int, ServerProcess]:
            (tmp_path / "echo.py").write_text(APP)
            (tmp_path / "conf.py").write_text(CONF.format(limits=limits, more=more))
            port = free_port()
            process = ServerProcess(
                [sys.executable, "-m", "gunicorn", "-b", f"127.0.0.1:{port}", "-c", tmp_path / "conf.py", "echo:app"],
                ready=lambda: listens(port),
                log=tmp_path / "gunicorn.log",
                env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), **env},
            )
            return port, stack.enter_context(process)

        yield start


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def until(client: socket.socket, end: bytes) -> bytes:
    """What comes, up to this."""
    heard = b""
    while not heard.endswith(end):
        part = client.recv(65536)
        assert part, heard
        heard += part
    return heard


def all_of(client: socket.socket) -> bytes:
    heard = b""
    while part := client.recv(65536):
        heard += part
    return heard


def test_requests_in_any_pieces(serve: Server) -> None:
    port, _ = serve()
    requests = (
        b"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd"
        b"PUT /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        b"GET /c HTTP/1.1\r\nHost: x\r\n\r\n"
        b"GET /d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )
    for size in (1, 7, 50, 1000):
        with connect(port) as client:
            for start in range(0, len(requests), size):
                client.sendall(requests[start : start + size])
                if size < 50:
                    time.sleep(0.001)
            heard = all_of(client)
        bodies = [part.split(b"\r\n\r\n")[1] for part in heard.split(b"HTTP/1.1 200 OK")[1:]]
        assert bodies == [b" /a 4 abcd", b" /b 5 abcde", b" /c 0 ", b" /d 0 "]


def test_http_1_0_and_a_client_that_has_said_all(serve: Server) -> None:
    port, _ = serve()
    for request in (b"GET /a HTTP/1.0\r\n\r\n", b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"):
        with connect(port) as client:
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            assert all_of(client).endswith(b" /a 0 ")
    with connect(port) as client:  # a body that is cut off is what the app sees
        client.sendall(b"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        client.shutdown(socket.SHUT_WR)
        assert all_of(client).endswith(b" /a 3 abc")


def test_a_client_that_asks_before_it_sends(serve: Server) -> None:
    port, _ = serve()
    with connect(port) as client:
        for _ in range(2):
            client.sendall(b"PUT /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            assert until(client, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.sendall(b"abc")
            heard = until(client, b"abc")
            assert heard.startswith(b"HTTP/1.1 200 OK")
            assert b"100 Continue" not in heard, "said once"


def test_large_bodies_and_answers(serve: Server) -> None:
    """They go through temporary files, and come out whole."""
    port, process = serve("max_body_size=20_000_000")
    body = os.urandom(9_000_000)
    with connect(port) as client:
        client.sendall(
            b"PUT /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        time.sleep(3)  # longer than a thread waits for a reader
        heard = all_of(client)
    assert heard.partition(b"\r\n\r\n")[2] == b" /a 9000000 " + body
    deleted = [
        target for file in Path("/proc").glob(f"{process.pid}/task/*/children") for target in file.read_text().split()
    ]
    for child in deleted:
        open_files = [os.readlink(file) for file in Path(f"/proc/{child}/fd").iterdir() if file.is_symlink()]
        assert not [name for name in open_files if "/tmp/" in name and "deleted" in name and "wgunicorn" not in name], (
            "closed"
        )


def test_more_than_may_be_kept_is_refused(serve: Server) -> None:
    port, _ = serve("spool_size=500_000, max_body_size=20_000_000")
    with connect(port) as client:
        client.sendall(b"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n" + 700_000 * b"x")
        heard = until(client, b"}]}\n")
    assert heard.startswith(b"HTTP/1.1 503 Service Unavailable")
    assert b"retry-after: 5" in heard
    with connect(port) as client:
        client.sendall(b"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n" + 30_000 * b"x")
        assert until(client, b"xxx").startswith(b"HTTP/1.1 200 OK"), "small ones need no room"


def test_connections_of_one_peer_are_bounded(serve: Server) -> None:
    port, _ = serve("connections_per_peer=5")
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(port)) for _ in range(5)]
        for client in clients:
            client.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
            assert until(client, b" /a 0 ").startswith(b"HTTP/1.1 200 OK")
        with connect(port) as client:
            client.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
            heard = all_of(client)
        assert heard.startswith(b"HTTP/1.1 429 Too Many Requests")
        assert b"there may be 5 connections from one address at a time" in heard
        clients[0].close()

        def is_answered() -> bool:
            with connect(port) as client:
                client.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return all_of(client).startswith(b"HTTP/1.1 200 OK")

        eventually("the server has seen that one is gone", is_answered)


def test_when_all_connections_are_taken_the_idlest_makes_room(serve: Server) -> None:
    port, _ = serve(more="worker_connections = 20")
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connect(port))
        with connect(port) as client:
            client.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert all_of(client).startswith(b"HTTP/1.1 200 OK")


def test_a_client_that_takes_nothing_is_left(serve: Server) -> None:
    port, process = serve("send_timeout=1")
    with connect(port) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        eventually("it is told", lambda: "too slow in taking its answer" in process.log_text())


@pytest.mark.long
def test_it_ends_in_time_whatever_clients_do(serve: Server) -> None:
    """The limit is gunicorn's graceful_timeout; afterwards it would have to kill its worker. It takes the five seconds
    that clients have to take their answers."""
    port, process = serve("header_timeout=200, body_timeout=60, send_timeout=60")
    requests = [
        b"",
        b"GET /a HTTP/1.1\r\n",
        b"PUT /a HTTP/1.1\r\nContent-Length: 10\r\n\r\n1",
        b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",  # it does not close its end
    ]
    with ExitStack() as stack:
        for request in 5 * requests:
            stack.enter_context(connect(port)).sendall(request)
        process.terminate()
        eventually("it ends", lambda: not process.is_running())
    assert "SIGKILL" not in process.log_text()
    assert "Traceback" not in process.log_text()


def test_a_header_does_not_say_where_the_app_is_mounted(serve: Server) -> None:
    port, _ = serve()
    with connect(port) as client:
        for header in (b"SCRIPT_NAME: /x", b"PATH_INFO: /x", b"REMOTE_USER: root"):
            client.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n\r\n")
            assert until(client, b" 0 ").endswith(b"\r\n\r\n /a 0 ")


def test_what_goes_wrong_is_told_as_everywhere(serve: Server) -> None:
    port, process = serve(SCRIPT_NAME="/limes")
    for path, status in (("/limes/a", 200), ("/a", 404), ("/limes/fails", 500)):
        with connect(port) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            heard = all_of(client)
        assert heard[9:12] == str(status).encode()
        assert (b"application/json" in heard) == (status != 200)
        assert b"html" not in heard
        assert b"secret" not in heard
    assert "a secret" in process.log_text()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    file = tmp_path / "both.pem"
    subprocess.run(
        f"openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2 -keyout {file} -out {tmp_path}/cert.pem".split(),
        check=True,
        capture_output=True,
    )
    with file.open("a") as both:
        both.write((tmp_path / "cert.pem").read_text())
    return file


def test_tls(serve: Server, certificate: Path) -> None:
    """gunicorn reads by itself then, in a thread; but nobody has one before the first byte, or for ever. It takes the
    time limit of two seconds for each thread's share of slow ones."""
    port, process = serve("header_timeout=2", f"certfile = {str(certificate)!r}\nkeyfile = certfile")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with ExitStack() as stack:
        for _ in range(3):  # there are two threads
            stack.enter_context(connect(port))
            stack.enter_context(connect(port)).sendall(b"\x16")
            secure = stack.enter_context(context.wrap_socket(connect(port)))
            secure.sendall(b"GET / HTTP/1.1\r\nX: ")
        for _ in range(2):
            with context.wrap_socket(connect(port)) as client:
                client.sendall(b"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
                assert until(client, b"abc").startswith(b"HTTP/1.1 200 OK")
                client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                assert len(all_of(client)) > 5_000_000
    assert "Traceback" not in process.log_text()
