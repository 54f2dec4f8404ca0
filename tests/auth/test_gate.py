"""A slow Keystone and made-up tokens do not hold up those whose tokens are known."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from limes.app.composition.identity import build_authenticator
from limes.auth.session import open_session
from limes.auth.tokens import Gate, TokenCache
from limes.kernel.errors import Unavailable
from limes.kernel.system import SystemClock
from tests.auth.test_keystone_faults import settings_for
from tests.kernel.askers import logs_in
from tests.support.faulty_keystone import token_body
from tests.support.web_server import Answer, Request, web_server

KNOWN = {"HTTP_X_AUTH_TOKEN": "a-known-one"}
ANSWER = Answer(200, json.dumps(token_body()).encode())


@pytest.mark.parametrize("validator", ["own", "keystonemiddleware"])
def test_known_tokens_are_not_held_up(validator: str) -> None:
    """Of twenty made-up ones four wait for Keystone, and the others are refused."""
    hang, refused = threading.Event(), threading.Semaphore(0)
    subjects: list[str] = []

    def validate(request: Request) -> Answer:
        subjects.append(request.headers.get("X-Subject-Token", ""))
        if subjects[-1].startswith("made-up"):
            hang.wait(60)
        return ANSWER

    def try_one(number: int) -> str:
        try:
            authenticator.authenticate({"HTTP_X_AUTH_TOKEN": f"made-up-{number % 10}"})
        except Unavailable as error:
            refused.release()
            return str(error)
        return "let in"

    with web_server() as server, ThreadPoolExecutor(20) as pool:
        server.answer = logs_in(server.url, validate)
        settings = settings_for(server.url, timeout=200, validator=validator)
        authenticator = build_authenticator(settings, open_session(settings, threads=8), SystemClock())
        assert authenticator.authenticate(KNOWN).user_id == "u1"
        futures = [pool.submit(try_one, number) for number in range(20)]
        try:
            for _ in range(16):
                assert refused.acquire(timeout=30)
            for _ in range(5):
                assert authenticator.authenticate(KNOWN).user_id == "u1"
        finally:
            hang.set()
        outcomes = [future.result(60) for future in futures]
    assert outcomes.count("let in") == 4
    assert set(outcomes) - {"let in"} == {"Keystone is slow, and too many requests wait for it; try again later"}
    assert 1 <= len([one for one in subjects if one.startswith("made-up")]) <= 4
    assert subjects.count("a-known-one") == 1


def test_a_rush_at_a_quick_keystone_refuses_nobody() -> None:
    """Whoever waits gets what has been found out in the meantime."""
    cache = TokenCache(SystemClock(), ttl=300, negative_ttl=10, size=10, gate=Gate(1, patience=60))
    asked: list[int] = []
    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(lambda _: cache.get(b"new", lambda: asked.append(1)), range(30))) == {None}
    assert asked == [1]


def test_the_gate_opens_again() -> None:
    gate = Gate(1, patience=0)
    with gate.admit(), pytest.raises(Unavailable), gate.admit():
        pass
    with pytest.raises(ValueError, match="x"), gate.admit():
        raise ValueError("x")
    with gate.admit():
        pass
