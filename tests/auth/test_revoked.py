"""Who has signed out is refused at once, by all processes that share a folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from limes.app.composition.identity import build_authenticator
from limes.auth.session import open_session
from limes.auth.tokens import RevocationsFirst, RevokedTokens
from limes.kernel.errors import Unauthorized, Unavailable
from limes.kernel.system import SystemClock
from limes.ui.keystone_sign_in import KeystoneSignInMethod
from tests.auth.test_gate import ANSWER
from tests.auth.test_keystone_faults import settings_for
from tests.kernel.askers import logs_in
from tests.support.clock import FrozenClock
from tests.support.web_server import Answer, Request, web_server


@pytest.mark.parametrize("validator", ["own", "keystonemiddleware"])
def test_signing_out_reaches_every_worker(validator: str, tmp_path: Path) -> None:
    """Two workers have the token in their caches, and Keystone would go on saying that it is good."""
    outcome = [Answer(204, b"")]

    def keystone(request: Request) -> Answer:
        return outcome[0] if request.method == "DELETE" else ANSWER

    with web_server() as server:
        server.answer = logs_in(server.url, keystone)
        settings = settings_for(server.url, validator=validator)
        revoked = [RevokedTokens(SystemClock(), 300, tmp_path) for _ in range(2)]
        workers = [
            RevocationsFirst(build_authenticator(settings, open_session(settings), SystemClock()), one)
            for one in revoked
        ]
        for worker in workers:
            for token in ("of-ada", "of-bob"):
                assert worker.authenticate({"HTTP_X_AUTH_TOKEN": token}).user_id == "u1"
        KeystoneSignInMethod(open_session(settings), "d", revoked[0]).revoke("of-ada")
        for worker in workers:
            with pytest.raises(Unauthorized, match="the token is not valid"):
                worker.authenticate({"HTTP_X_AUTH_TOKEN": " of-ada "})
            with pytest.raises(Unauthorized):
                worker.authenticate({"HTTP_X_AUTH_TOKEN": "of-bob", "HTTP_X_SERVICE_TOKEN": "of-ada"})
            assert worker.authenticate({"HTTP_X_AUTH_TOKEN": "of-bob"}).user_id == "u1"
        outcome[0] = Answer(404, b"{}")
        KeystoneSignInMethod(open_session(settings), "d", revoked[0]).revoke("made-up")
        assert "made-up" not in revoked[1], "what Keystone does not know need not be remembered"
        outcome[0] = Answer(503, b"{}")
        with pytest.raises(Unavailable):
            KeystoneSignInMethod(open_session(settings), "d", revoked[0]).revoke("of-bob")


def test_another_process(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from limes.auth.tokens import RevokedTokens; from limes.kernel.system import SystemClock;"
        "RevokedTokens(SystemClock(), 300, pathlib.Path(sys.argv[1])).add('of-ada')"
    )
    here = RevokedTokens(SystemClock(), 300, tmp_path / "made" / "by-add")
    assert "of-ada" not in here
    subprocess.run([sys.executable, "-c", code, tmp_path / "made" / "by-add"], check=True)
    assert "of-ada" in here
    assert "of-bob" not in here


def test_neither_files_nor_memory_grow_for_ever(tmp_path: Path) -> None:
    clock = FrozenClock()
    one, other = (RevokedTokens(clock, 300, tmp_path) for _ in range(2))
    alone = RevokedTokens(clock, 300, None)
    for number in range(20):
        for revoked in (one, alone):
            revoked.add(f"token {number}")
            assert f"token {number}" in revoked
        assert f"token {number}" in other
        clock.advance(299)
        assert f"token {number}" in one, "for as long as a cache may believe in it"
        assert f"token {number}" in alone
        clock.advance(1)
    assert len(os.listdir(tmp_path)) <= 2
    assert max(len(revoked._hashes) for revoked in (one, other, alone)) <= 3
    assert "token 1" not in one


def test_only_hashes_are_written(tmp_path: Path) -> None:
    revoked = RevokedTokens(FrozenClock(), 300, tmp_path)
    revoked.add("of-ada")
    (file,) = tmp_path.iterdir()
    assert b"ada" not in file.read_bytes()
    assert len(file.read_bytes()) == 32
    assert file.stat().st_mode & 0o777 == 0o600
