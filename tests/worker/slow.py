"""Clients that take their time, all in one thread: they send or read a little each second, and come back when refused."""

import contextlib
import socket
import threading
from dataclasses import dataclass, field

STEP = 1.0


@dataclass(eq=False)
class SlowClient:
    """One connection at a time. It opens with `opening`, and then sends `drip` again and again."""

    port: int
    opening: bytes = b""
    drip: bytes = b""
    reads: int = 0
    """How many bytes of the answer it takes each second; 0 for all."""
    sock: socket.socket | None = None
    heard: bytes = b""
    statuses: list[bytes] = field(default_factory=list)

    def open(self) -> None:
        """Connects anew."""
        self.close()
        self.sock = socket.socket()
        if self.reads:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)  # else the server's system takes megabytes
        self.sock.settimeout(5)
        self.sock.connect(("127.0.0.1", self.port))
        self.sock.setblocking(False)
        self.sock.sendall(self.opening)
        self.heard = b""

    def step(self) -> None:
        """What it does each second."""
        assert self.sock is not None
        try:
            if self.drip:
                self.sock.send(self.drip)
            data = self.sock.recv(self.reads or 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.heard += data[:64]
        if not data:
            if self.heard:
                self.statuses.append(self.heard.split(b" ")[1])
            self.open()

    def close(self) -> None:
        """Goes away."""
        if self.sock is not None:
            self.sock.close()


class SlowClients:
    """Many of them, from `start` to `stop`."""

    def __init__(self, clients: list[SlowClient]) -> None:
        self.clients = clients
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "SlowClients":
        for client in self.clients:
            client.open()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        for client in self.clients:
            client.close()

    def _run(self) -> None:
        pause = STEP / max(len(self.clients), 1)
        while True:
            for client in self.clients:
                with contextlib.suppress(OSError):
                    client.step()
                if self._stop.wait(pause):
                    return


def header_slow(port: int) -> SlowClient:
    """It never comes to the end of its head."""
    return SlowClient(port, b"GET /healthcheck HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"x")


def body_slow(port: int, path: str) -> SlowClient:
    """It has a body of a hundred thousand bytes."""
    return SlowClient(port, f"PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n".encode(), b" ")


def chunk_slow(port: int, path: str) -> SlowClient:
    """It has a body of many chunks of one byte."""
    return SlowClient(
        port, f"PUT {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode(), b"1\r\n \r\n"
    )


def idle(port: int) -> SlowClient:
    """It has nothing to say."""
    return SlowClient(port)


def reading_slow(port: int, path: str, token: str) -> SlowClient:
    """It asks for much on one connection, and takes 100 bytes a second."""
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Auth-Token: {token}\r\n"
    request += "OpenStack-API-Version: placement 1.39\r\n\r\n"
    return SlowClient(port, 6 * request.encode(), reads=100)
