"""A network cable between two programs that a test can cut: a relay of TCP connections that loses nothing and says nothing.

While it is cut, neither side hears of the other, as when a switch is lost: no answer, no refusal. Afterwards everything
that was sent arrives.
"""

import contextlib
import selectors
import socket
import threading
from collections.abc import Iterator

_PART = 65536


class Cable:
    """Takes connections on one address and passes them on to another."""

    def __init__(self, target: tuple[str, int], host: str = "127.0.0.1") -> None:
        self._target = target
        self._listener = socket.create_server((host, 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._whole = threading.Event()
        self._whole.set()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Nothing passes from now on."""
        self._whole.clear()

    def mend(self) -> None:
        """Everything passes again."""
        self._whole.set()

    def close(self) -> None:
        """Ends all connections."""
        self._whole.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=[near], daemon=True).start()

    def _relay(self, near: socket.socket) -> None:
        self._whole.wait()
        with near, contextlib.suppress(OSError), socket.create_connection(self._target) as far:
            self._open |= {near, far}
            try:
                self._pass_on(near, far)
            finally:
                self._open -= {near, far}

    def _pass_on(self, near: socket.socket, far: socket.socket) -> None:
        other = {near: far, far: near}
        with selectors.DefaultSelector() as selector:
            for one in other:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(one, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select():
                    source: socket.socket = key.fileobj  # type: ignore[assignment]  # we registered sockets
                    data = source.recv(_PART)
                    self._whole.wait()
                    if data:
                        other[source].sendall(data)
                    else:
                        selector.unregister(source)
                        other[source].shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def cable(target: tuple[str, int]) -> Iterator[Cable]:
    """A whole one."""
    made = Cable(target)
    try:
        yield made
    finally:
        made.close()
