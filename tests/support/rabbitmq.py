"""A RabbitMQ for one test session, from Debian's package: all that it has is in a folder of its own, on loopback.

Its port mapper (epmd) is our child as well. Left to itself, Erlang would start one that outlives the tests and listens
to the network.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pika
import pika.exceptions

from tests.setup.needs import RABBITMQ
from tests.support.machine import MACHINE
from tests.support.processes import ServerProcess, free_port, scratch_folder


class RabbitMQ:
    """A running broker. `process` may be stopped and started; the queues outlive that."""

    def __init__(self, programs: Path, folder: Path, epmd_port: int) -> None:
        self.port = free_port()
        self.tls_port = free_port()
        self.certificate = folder / "certificate.pem"
        """Its own, made for 127.0.0.1. Missing where there is no `openssl`: then nothing listens on `tls_port`."""
        self._programs = programs
        make_certificate(folder, self.certificate)
        self._env = _environment(folder, self.port, epmd_port)
        if self.certificate.exists():
            with (folder / "rabbitmq.conf").open("a") as file:
                file.write(_tls_settings(folder, self.certificate, self.tls_port))
        self.process = ServerProcess(
            [programs / "rabbitmq-server"],
            ready=self._answers,
            log=folder / "rabbitmq.log",
            env=self._env,
            cwd=folder,
            timeout=180,  # a tenth of that on a machine that has nothing else to do
        )

    @property
    def url(self) -> str:
        """With the password that every new RabbitMQ has."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"

    def _answers(self) -> bool:
        try:
            self._connect(patience=2).close()
        except (pika.exceptions.AMQPError, OSError):
            return False
        return True

    def _connect(self, patience: float) -> Any:
        parameters = pika.URLParameters(self.url)
        parameters.socket_timeout, parameters.stack_timeout = patience, 2 * patience
        return pika.BlockingConnection(parameters)

    @contextlib.contextmanager
    def channel(self) -> Iterator[Any]:
        """A channel for tests to make queues with, and to look into them."""
        connection = self._connect(patience=30)
        try:
            yield connection.channel()
        finally:
            if connection.is_open:
                connection.close()

    def take_all(self, queue: str) -> list[tuple[Any, bytes]]:
        """Takes all messages out of a queue: their properties and bodies, in order."""
        found = []
        with self.channel() as channel:
            while True:
                method, properties, body = channel.basic_get(queue, auto_ack=True)
                if method is None:
                    return found
                found.append((properties, body))

    def evaluate(self, erlang: str) -> str:
        """Runs an Erlang expression inside the broker."""
        done = subprocess.run(
            [self._programs / "rabbitmqctl", "eval", erlang],
            env={**os.environ, **self._env},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def pause(self) -> None:
        """The broker does nothing any more, but its connections stay."""
        self.process.signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Goes on."""
        if self.process.is_running():
            self.process.signal(signal.SIGCONT)


def make_certificate(folder: Path, target: Path) -> None:
    """Writes a key into the folder and a certificate for 127.0.0.1, signed by itself. Nothing without `openssl`."""
    openssl = shutil.which("openssl")
    if openssl is None:
        return
    name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    keys = ["-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key.pem", "-out", target]
    subprocess.run([openssl, "req", "-x509", *keys, *name], capture_output=True, timeout=200, check=True)


def _tls_settings(folder: Path, certificate: Path, port: int) -> str:
    return (
        f"listeners.ssl.1 = 127.0.0.1:{port}\n"
        f"ssl_options.cacertfile = {certificate}\n"
        f"ssl_options.certfile = {certificate}\n"
        f"ssl_options.keyfile = {folder / 'key.pem'}\n"
        "ssl_options.verify = verify_none\n"
        "ssl_options.fail_if_no_peer_cert = false\n"
    )


def _environment(folder: Path, port: int, epmd_port: int) -> dict[str, str]:
    cookie = folder / ".erlang.cookie"
    cookie.write_text("limes-tests")
    cookie.chmod(0o400)
    (folder / "plugins").write_text("[].")
    (folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{port}\ndisk_free_limit.absolute = 1MB\n")
    return {
        "HOME": str(folder),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": str(epmd_port),
        "RABBITMQ_NODENAME": f"limes-{port}@localhost",
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +S 1:1",
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "logs"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_PID_FILE": str(folder / "pid"),
    }


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def rabbitmq_server() -> Iterator[RabbitMQ]:
    """Runs a broker. Raises `AssertionError` if that is not possible."""
    programs, epmd = RABBITMQ.find(MACHINE), shutil.which("epmd")
    assert programs is not None, RABBITMQ.story()
    assert epmd is not None
    with scratch_folder("limes-mq-") as folder:
        port = free_port()
        mapper = ServerProcess(
            [epmd, "-address", "127.0.0.1", "-port", str(port)],
            ready=lambda: _listens(port),
            log=folder / "epmd.log",
            cwd=folder,
        )
        with mapper:
            broker = RabbitMQ(programs, folder, port)
            try:
                broker.process.start()
                yield broker
            finally:
                broker.resume()
                broker.process.stop()
