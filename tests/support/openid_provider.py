"""A real OpenID provider from npm on loopback, at an address that is another site than the dashboard's."""

import fcntl
import json
import shutil
from functools import cache
from hashlib import sha256
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from tests.setup.needs import CHECKOUT, NPM
from tests.support.frontend import QUICKLY, npm, reason_of
from tests.support.machine import MACHINE, give_up, require
from tests.support.processes import ServerProcess, free_port, http_answers

SOURCES = Path(__file__).parent / "openid"
_FOLDER = CHECKOUT / ".cache" / "openid"


class OpenIdProvider:
    """The process (not started), for clients as OpenID's dynamic registration describes them."""

    def __init__(self, folder: Path) -> None:
        self.issuer = f"http://127.0.0.2:{free_port()}"
        self._log = folder / "provider.log"

    def process(self, *clients: dict[str, Any]) -> ServerProcess:
        """Skips, or fails in CI, where npm cannot install it."""
        require(NPM)
        if reason := _install():
            give_up(f"npm cannot install an OpenID provider ({reason}); not tested: single sign-on")
        return ServerProcess(
            [str(MACHINE.program("node")), "provider.mjs"],
            ready=http_answers(f"{self.issuer}/.well-known/openid-configuration"),
            log=self._log,
            env={"ISSUER": self.issuer, "CLIENTS": json.dumps(clients)},
            cwd=_FOLDER,
        )


@cache
def _install() -> str:
    """Answers why it failed; nothing if it did not. Tried once by each worker."""
    sources = sorted(SOURCES.iterdir())
    state = sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with (_FOLDER / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        stamp = _FOLDER / ".installed"
        if stamp.is_file() and stamp.read_text() == state:
            return ""
        for source in sources:
            shutil.copy(source, _FOLDER)
        try:
            npm("ci", "--ignore-scripts", *QUICKLY, cwd=_FOLDER)
        except (AssertionError, TimeoutExpired) as error:
            return reason_of(str(error))
        stamp.write_text(state)
    return ""
