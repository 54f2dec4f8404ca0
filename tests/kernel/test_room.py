"""All answers of a process together have a bound, however many threads read them, and nobody waits for ever."""

import gc
import itertools
import json
import random
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from limes.backends.base import DomainInfo, ProjectInfo, QuotaBackend
from limes.backends.breaker import BreakerRules, CircuitBreaker, CircuitState, GuardedQuotaBackend, within
from limes.kernel.errors import BackendOutage, BackendPaused
from limes.kernel.outgoing import AnswerLimits, GuardedSession
from limes.kernel.outgoing.room import ROOM, Contents, Room, Share, with_its_answers
from tests.support.processes import eventually
from tests.support.web_server import Answer, WebServer, web_server

MIB = 1024 * 1024
LIMIT = 100 * MIB
PROJECT = ProjectInfo("p", "p", "d", DomainInfo("d", "d"))


@pytest.fixture
def server() -> Iterator[WebServer]:
    with web_server() as running:
        yield running


def grow(room: Room, share: Share, mebibytes: int, seconds: float = 200) -> None:
    room.grow(share, mebibytes * MIB, LIMIT, time.monotonic() + seconds, "GET x")


def in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_no_sum_of_shares_goes_beyond_the_limit() -> None:
    room, beyond, ended = Room(patience=0), [], itertools.count()

    def read(seed: int) -> None:
        random_ = random.Random(seed)
        for _ in range(30):
            share, size = room.share(), 0
            try:
                while size < random_.choice((3, 10, 60, 120)):
                    size += random_.randint(1, 20)
                    grow(room, share, size)
                    if room.taken > LIMIT:
                        beyond.append(room.taken)
            except BackendOutage:
                pass
            room.end_reading(share)
        next(ended)

    threads = [in_thread(lambda seed=seed: read(seed)) for seed in range(8)]
    for thread in threads:
        thread.join(200)
    assert (beyond, next(ended)) == ([], 8)
    assert room.taken == 0


def test_an_answer_that_is_too_large_alone() -> None:
    room = Room()
    share = room.share()
    with pytest.raises(BackendOutage, match=r"GET x: the answer needs more than 104857600 bytes .*answers.memory"):
        grow(room, share, 101)


def test_whoever_finds_no_room_waits_until_another_answer_is_gone() -> None:
    room = Room()
    first, second = room.share(), room.share()
    grow(room, first, 90)
    room.end_reading(first)
    done = threading.Event()
    in_thread(lambda: (grow(room, second, 20), done.set()))
    assert not done.wait(0.2)
    del first
    assert done.wait(200)
    assert room.taken == 20 * MIB


def test_of_several_the_largest_gives_way() -> None:
    room = Room(patience=0)
    large, small = room.share(), room.share()
    grow(room, large, 60)
    grow(room, small, 40)
    done = threading.Event()
    in_thread(lambda: (grow(room, small, 50), done.set()))
    with pytest.raises(BackendOutage, match="other answers leave no memory for this one"):
        grow(room, large, 70)
    large.free()
    assert done.wait(200)


def test_the_wait_ends() -> None:
    room = Room()
    kept, share = room.share(), room.share()
    grow(room, kept, 90)
    room.end_reading(kept)
    with pytest.raises(BackendOutage, match="no memory"):
        grow(room, share, 20, seconds=0.1)


def test_small_answers_never_wait() -> None:
    room = Room()
    kept, share = room.share(), room.share()
    grow(room, kept, 100)
    grow(room, share, 4, seconds=0)
    assert room.taken == 100 * MIB


@pytest.mark.parametrize(
    "document",
    [
        b"[" + b"{}," * 100_000 + b"1]",
        b"[" + b"[[1]]," * 50_000 + b"1]",
        b"[" + b'{"a":1},' * 50_000 + b"1]",
        b"[" + b'"ab",' * 80_000 + b"1]",
        ('["' + "a" * 500_000 + '\N{GRINNING FACE}"]').encode(),
        json.dumps(
            [{"id": f"{n:032x}", "name": f"project {n}", "enabled": True, "tags": []} for n in range(5000)]
        ).encode(),
    ],
)
def test_memory_is_not_underestimated(document: bytes) -> None:
    contents = Contents()
    for begin in range(0, len(document), 65536):
        contents.feed(document[begin : begin + 65536])
    tracemalloc.start()
    try:
        body = bytes(bytearray(document))
        text = body.decode()
        parsed = json.loads(text)
        assert parsed
        assert tracemalloc.get_traced_memory()[1] <= contents.memory * 1.02
    finally:
        tracemalloc.stop()


# -- sessions and calls ------------------------------------------------------------------------------------------------


def answer_of(mebibytes: int) -> bytes:
    return b'["' + b"x" * mebibytes * MIB + b'"]'


def test_an_answer_has_its_share_as_long_as_it_is_there(server: WebServer) -> None:
    server.answer = lambda _: Answer(200, answer_of(4))
    before = ROOM.taken
    answer = GuardedSession().get(server.url)
    assert ROOM.taken == before + 3 * len(answer.content) + 64
    del answer
    gc.collect()
    assert ROOM.taken == before


def test_a_call_has_that_of_its_last_answer_until_it_ends(server: WebServer) -> None:
    server.answer = lambda _: Answer(200, answer_of(4))
    before, taken = ROOM.taken, []

    def call() -> None:
        for _ in range(3):
            text = GuardedSession().get(server.url).json()
            gc.collect()
            taken.append(ROOM.taken - before)
        assert text

    with_its_answers(call)
    assert taken == [3 * len(answer_of(4)) + 64] * 3
    assert ROOM.taken == before


def test_errors_keep_no_answer(server: WebServer) -> None:
    server.answer = lambda _: Answer(200, answer_of(4) + b"]")
    before = ROOM.taken

    def call() -> Any:
        answer = GuardedSession().get(server.url)
        return answer.json()

    with pytest.raises(ValueError, match="Extra data") as caught:
        within(200, call)
    assert ROOM.taken == before
    assert (caught.value.doc, caught.value.__context__.doc) == ("", "")


def test_bombs_at_once_stay_within_the_limit(server: WebServer) -> None:
    """Each alone would fit."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    body = packer.compress(answer_of(12)) + packer.flush()
    server.answer = lambda _: Answer(200, body, {"Content-Encoding": "gzip"})
    limits, taken, arrived, refused = AnswerLimits(memory=90 * MIB), [], [], []
    before = ROOM.taken

    def ask() -> None:
        try:
            arrived.append(len(GuardedSession(limits).get(server.url).content))
        except BackendOutage as outage:
            refused.append(str(outage))

    threads = [in_thread(ask) for _ in range(4)]
    while any(thread.is_alive() for thread in threads):
        taken.append(ROOM.taken - before)
        time.sleep(0.01)
    assert max(taken) <= 90 * MIB
    assert arrived
    assert len(arrived) + len(refused) == 4
    eventually("the room is empty", lambda: ROOM.taken == before)


class Asking(QuotaBackend):
    def __init__(self, url: str) -> None:
        self.url = url

    def describe(self) -> Any:
        raise AssertionError("only usage is asked for")

    def set_quota(self, project: Any, quotas: Any) -> None:
        raise AssertionError("only usage is asked for")

    def report_usage(self, project: Any) -> Any:
        return GuardedSession(AnswerLimits(max_transferred=MIB, max_size=MIB, max_depth=10)).get(self.url)


BODIES = {
    "long": (b"x" * (MIB + 1), "identity"),
    "bomb": (zlib.compress(b"x" * 2 * MIB), "deflate"),
    "deep": (b"[" * 11, ""),
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_backend_that_goes_beyond_a_limit_opens_its_circuit(kind: str, server: WebServer) -> None:
    body, encoding = BODIES[kind]
    server.answer = lambda _: Answer(200, body, {"Content-Encoding": encoding})
    breaker = CircuitBreaker("service x", BreakerRules(failures=3, pause=600))
    backend = GuardedQuotaBackend(Asking(server.url), breaker, 200)
    for _ in range(3):
        with pytest.raises(BackendOutage, match=r"answers\.max_"):
            backend.report_usage(PROJECT)
    assert breaker.state is CircuitState.OPEN
    with pytest.raises(BackendPaused):
        backend.report_usage(PROJECT)
    assert len(server.requests) == 3
