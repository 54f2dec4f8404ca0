"""The virtual environment with the real OpenStack components, and servers started from it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.setup.needs import REAL
from tests.support.machine import MACHINE
from tests.support.processes import ServerProcess

_APPS = Path(__file__).parent / "apps"


class RealVenv:
    """The environment that `make real-venv` builds from `tests/requirements-real.txt`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def bin(self, name: str) -> Path:
        """A program of the environment, such as `openstack`."""
        return self.folder / "bin" / name

    def gunicorn(
        self, app: str, port: int, *, env: Mapping[str, str], folder: Path, ready: Callable[[], bool], threads: int = 4
    ) -> ServerProcess:
        """A server (not started) for a WSGI app on 127.0.0.1; `app` may be a module of `tests/support/apps`.

        gunicorn 27 would open its control socket in the user's home, where several servers would meet.
        """
        bind = ["--no-control-socket", "-b", f"127.0.0.1:{port}", "-w", "1", "--threads", str(threads)]
        return ServerProcess(
            [self.bin("python"), "-m", "gunicorn", *bind, "--graceful-timeout", "1", "--pythonpath", _APPS, app],
            ready=ready,
            log=folder / "gunicorn.log",
            env={**env, "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"},
            cwd=folder,
            timeout=240,  # a busy machine needs more than 60 s for the larger ones
        )


def find_real_venv() -> RealVenv | None:
    """The environment at $LIMES_REAL_VENV, or else at `.cache/real` in the checkout. None if it was not built."""
    folder = REAL.find(MACHINE)
    return RealVenv(folder) if folder else None
