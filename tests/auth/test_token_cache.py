"""The cache of verdicts: how long it believes, how much it keeps, and how often it asks."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from limes.auth.context import Identity
from limes.auth.tokens import TokenCache, Verdict, cache_key
from limes.kernel.errors import Unavailable
from tests.support.clock import FrozenClock

ALICE = Identity(user_id="alice")


class Oracle:
    """Answers what it was given, and counts how often it was asked."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.asked = 0

    def __call__(self) -> Verdict:
        self.asked += 1
        return self.verdict


def make_cache(clock: FrozenClock, ttl: float = 300, negative_ttl: float = 10, size: int = 100) -> TokenCache:
    return TokenCache(clock, ttl=ttl, negative_ttl=negative_ttl, size=size)


@pytest.mark.parametrize(
    ("verdict", "seconds", "asked"), [(ALICE, 299.9, 1), (ALICE, 300.0, 2), (None, 9.9, 1), (None, 10.0, 2)]
)
def test_a_verdict_is_believed_for_its_ttl(verdict: Verdict, seconds: float, asked: int) -> None:
    clock, oracle = FrozenClock(), Oracle(verdict)
    cache = make_cache(clock)
    assert cache.get(b"key", oracle) == verdict
    clock.advance(seconds)
    assert cache.get(b"key", oracle) == verdict
    assert oracle.asked == asked


@pytest.mark.parametrize("verdict", [ALICE, None])
def test_a_ttl_of_zero_remembers_nothing(verdict: Verdict) -> None:
    oracle = Oracle(verdict)
    cache = make_cache(FrozenClock(), ttl=0, negative_ttl=0)
    cache.get(b"key", oracle)
    cache.get(b"key", oracle)
    assert (oracle.asked, len(cache)) == (2, 0)


def test_the_least_recently_used_is_forgotten_first() -> None:
    cache = make_cache(FrozenClock(), size=2)
    for key in (b"a", b"b", b"a", b"c"):
        cache.get(key, Oracle(ALICE))
    again = {key: Oracle(ALICE) for key in (b"a", b"b")}
    cache.get(b"a", again[b"a"])
    cache.get(b"b", again[b"b"])
    assert (again[b"a"].asked, again[b"b"].asked) == (0, 1)
    assert len(cache) == 2


def test_made_up_tokens_do_not_push_out_valid_ones() -> None:
    cache, oracle = make_cache(FrozenClock(), size=3), Oracle(ALICE)
    cache.get(b"alice", oracle)
    for number in range(50):
        cache.get(cache_key(f"made-up-{number}"), Oracle(None))
    cache.get(b"alice", oracle)
    assert oracle.asked == 1
    assert len(cache) == 1 + 3


def test_many_threads_ask_once() -> None:
    cache, release, asked = make_cache(FrozenClock()), threading.Event(), []

    def slow() -> Verdict:
        asked.append(threading.get_ident())
        release.wait(10)
        return ALICE

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(cache.get, b"key", slow) for _ in range(8)]
        release.set()
        assert [answer.result(10) for answer in answers] == [ALICE] * 8
    assert len(asked) == 1


def test_a_failure_reaches_all_that_wait_and_is_not_remembered() -> None:
    cache, release = make_cache(FrozenClock()), threading.Event()

    def failing() -> Verdict:
        release.wait(10)
        raise Unavailable("down")

    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(cache.get, b"key", failing) for _ in range(4)]
        release.set()
        for answer in answers:
            with pytest.raises(Unavailable, match="down"):
                answer.result(10)
    assert cache.get(b"key", Oracle(ALICE)) == ALICE


def test_keys_do_not_contain_the_token() -> None:
    assert b"secret" not in cache_key("secret")
    assert cache_key("secret") != cache_key("secret", "expired")
