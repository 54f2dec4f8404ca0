"""`limes` and `openstack` as programs that start at once: each run is a fork of a process that has imported everything.

A command takes tenths of a second like this instead of seconds. `python -m tests.support.programs SOCKET` serves;
what stands in $PATH is a client, which hands over its arguments, directory, environment and files, and ends with the
command's exit code.
"""

import array
import contextlib
import importlib
import io
import json
import logging
import os
import select
import signal
import socket
import sys
from pathlib import Path

from tests.support.processes import ServerProcess

_CLIENT = """#!{python} -SE
import array, json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({socket!r})
    request = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
    files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    server.sendmsg([len(request).to_bytes(4, "big")], files)
    server.sendall(request)
    signal.signal(signal.SIGTERM, lambda *_: server.shutdown(socket.SHUT_WR))  # and wait for the program's end
    code = server.recv(4)
sys.exit(int.from_bytes(code, "big") if code else 1)
"""
_PROGRAMS = {"limes": ("limes.app.cli", "main"), "openstack": ("openstackclient.shell", "main")}
_ROOT = Path(__file__).parents[2]
_ALSO = (
    "limes.app.composition.collector",
    "limes.app.composition.api",
    "limes.app.composition.placement",
    "limes_osc.client",
)


def programs(folder: Path, bin_folder: Path) -> ServerProcess:
    """A server with its files in `folder`, to be started, and a client for each program in `bin_folder`, which is made."""
    path = folder / ".programs"
    bin_folder.mkdir()
    for client in (bin_folder / name for name in _PROGRAMS):
        client.write_text(_CLIENT.format(python=sys.executable, socket=str(path)))
        client.chmod(0o755)
    return ServerProcess(
        [sys.executable, "-m", "tests.support.programs", path],
        ready=path.exists,
        log=folder / ".programs.log",
        env={"PYTHONPATH": f"{_ROOT}:{_ROOT / 'plugins'}", "PYTHONUNBUFFERED": "1"},  # as on a terminal
        cwd=_ROOT,
    )


def serve(path: str) -> None:
    """Until SIGTERM. One thread, since a fork has only the one that called it."""
    for module in (*(module for module, _ in _PROGRAMS.values()), *_ALSO):
        importlib.import_module(module)
    _warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{path}.new")
        listener.listen()
        os.rename(f"{path}.new", path)  # who sees it may connect
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(connection)
            connection.close()


def _warm_up() -> None:
    """Has openstackclient look for all of its commands, which takes longer than any of them."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        sys.modules["openstackclient.shell"].main(["limes", "cluster", "show", "--help"])
    logging.getLogger().handlers.clear()


def _answer(connection: socket.socket) -> None:
    """Has a child run the command, and sends its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    files = array.array("i")
    head, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(3 * files.itemsize))
    files.frombytes(ancillary[0][2])
    size, text = int.from_bytes(head, "big"), b""
    while len(text) < size:
        text += connection.recv(size - len(text))
    arguments, folder, environ = json.loads(text)
    child = os.fork()
    if child == 0:
        connection.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environ)
        _run(arguments)
    with open(os.pidfd_open(child)) as ended:
        if connection in select.select([ended, connection], [], [])[0]:  # the client was told to end, or killed
            os.kill(child, signal.SIGTERM)
    status = os.waitpid(child, 0)[1]
    with contextlib.suppress(BrokenPipeError):
        connection.sendall((os.waitstatus_to_exitcode(status) & 0xFF).to_bytes(4, "big"))
    os._exit(0)


def _run(arguments: list[str]) -> None:
    """The program by the name that it was called by. Does not return."""
    sys.argv = arguments
    module, function = _PROGRAMS[os.path.basename(arguments[0])]
    try:
        code = getattr(sys.modules[module], function)(arguments[1:])
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code or 0))


if __name__ == "__main__":
    serve(sys.argv[1])
