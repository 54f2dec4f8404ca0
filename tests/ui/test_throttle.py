"""Who guesses has to wait ever longer, and nobody is locked out by others."""

import threading
from collections.abc import Callable

import falcon
import pytest

from limes.kernel.errors import Unauthorized, Unavailable
from limes.ui.throttle import Throttle
from tests.support.clock import FrozenClock

HOME, PROXY = "192.0.2.1", "198.51.100.1"


@pytest.fixture
def throttle(clock: FrozenClock) -> Throttle:
    return Throttle(clock)


def fail(throttle: Throttle, times: int, account: str, address: str, clock: FrozenClock | None = None) -> list[int]:
    """Fails, and waits as told where there is a clock to wait on. Answers the seconds that it waited."""
    waited = []
    for _ in range(times):
        try:
            with pytest.raises(Unauthorized), throttle.attempt(account, address):
                raise Unauthorized("wrong")
        except falcon.HTTPTooManyRequests as error:
            if clock is None:
                raise
            waited.append(int(error.headers["Retry-After"]))
            clock.advance(waited[-1])
    return waited


def succeed(throttle: Throttle, account: str, address: str) -> None:
    with throttle.attempt(account, address):
        pass


def test_the_cost_grows_and_has_a_cap(throttle: Throttle, clock: FrozenClock) -> None:
    fail(throttle, 5, "anna", HOME)
    assert fail(throttle, 24, "anna", HOME, clock) == [2, 3, 5, 9, 17, 33, 65, 129, 257, 301, 301, 301]


def test_somebody_new_gets_in_while_others_fail_behind_the_same_address(throttle: Throttle, clock: FrozenClock) -> None:
    """99 people go on failing for ten minutes, as often as they may; whoever is new never waits."""
    refused = 0
    for second in range(600):
        for number in range(99):
            try:
                fail(throttle, 1, f"user forgotten/{number}", PROXY)
            except falcon.HTTPTooManyRequests:
                refused += 1
        succeed(throttle, f"user new/{second}", PROXY)
        clock.advance(1)
    assert refused > 40_000


def guesses(throttle: Throttle, clock: FrozenClock, seconds: int, address: str, names: Callable[[int], str]) -> int:
    """How many tries get through to Keystone in that time, if one is made each second beyond the free ones."""
    made = 0
    for number in range(seconds):
        for _ in range(6 if number < 110 else 1):
            try:
                fail(throttle, 1, names(number), address)
                made += 1
            except falcon.HTTPTooManyRequests:
                pass
        clock.advance(0 if number < 110 else 1)
    return made


def test_one_address_tries_few_accounts(throttle: Throttle, clock: FrozenClock) -> None:
    """Spraying: 100 accounts, five tries each; and then one account each ten seconds."""
    succeed(throttle, "user known/anna", PROXY)
    assert 500 < guesses(throttle, clock, 110 + 3600, PROXY, lambda number: f"user made-up/{number}") <= 500 + 361 + 10
    succeed(throttle, "user known/anna", PROXY)  # at once
    assert max(fail(throttle, 1, f"user more/{number}", PROXY, clock) for number in range(3)) <= [11]
    succeed(throttle, "user never/seen-elsewhere", HOME)


def test_a_known_browser_waits_for_its_own_failures_only(throttle: Throttle, clock: FrozenClock) -> None:
    for number in range(150):
        fail(throttle, 1, f"user made-up/{number}", PROXY, clock)
    fail(throttle, 8, "user acme/anna", PROXY, clock)
    with pytest.raises(falcon.HTTPTooManyRequests):
        succeed(throttle, "user acme/anna", PROXY)
    with throttle.attempt("user acme/anna", PROXY, "browser 1"):
        pass
    for _ in range(5):
        with pytest.raises(Unauthorized), throttle.attempt("user acme/anna", PROXY, "browser 2"):
            raise Unauthorized("wrong")
    with pytest.raises(falcon.HTTPTooManyRequests), throttle.attempt("user acme/anna", PROXY, "browser 2"):
        pass


def test_what_others_guess_of_an_account_does_not_touch_its_owner(throttle: Throttle, clock: FrozenClock) -> None:
    succeed(throttle, "anna", HOME)
    for number in range(300):
        fail(throttle, 1, "anna", f"203.0.113.{number % 250}", clock)
    with pytest.raises(falcon.HTTPTooManyRequests):
        fail(throttle, 2, "anna", "203.0.113.251")
    succeed(throttle, "anna", HOME)


def test_an_account_is_guessed_slowly_from_many_addresses(throttle: Throttle, clock: FrozenClock) -> None:
    waited = [fail(throttle, 1, "anna", f"203.0.113.{number}", clock) for number in range(60)]
    assert waited[:20] == [[]] * 20
    assert max(seconds for each in waited for seconds in each) == 61


@pytest.mark.parametrize(
    "spelling", ["default/anna", "Default/ANNA", " default / anna", "default/an\uff4ea", "\uff24efault/Anna "]
)
def test_spellings_are_one_account(throttle: Throttle, spelling: str) -> None:
    fail(throttle, 5, "Default/anna", HOME)
    with pytest.raises(falcon.HTTPTooManyRequests):
        succeed(throttle, spelling, HOME)
    succeed(throttle, "other/anna", HOME)


def test_one_network_of_ipv6_is_one_client(throttle: Throttle) -> None:
    fail(throttle, 5, "anna", "2001:db8::1")
    with pytest.raises(falcon.HTTPTooManyRequests):
        succeed(throttle, "anna", "2001:db8::ffff:1")
    succeed(throttle, "anna", "2001:db8:0:1::1")


def test_success_clears_what_failed_before(throttle: Throttle) -> None:
    fail(throttle, 4, "anna", HOME)
    succeed(throttle, "anna", HOME)
    fail(throttle, 5, "anna", HOME)
    with pytest.raises(falcon.HTTPTooManyRequests):
        succeed(throttle, "anna", HOME)


def test_what_is_not_the_credentials_fault_does_not_count(throttle: Throttle) -> None:
    for _ in range(100):
        with pytest.raises(Unavailable), throttle.attempt("anna", HOME):
            raise Unavailable("Keystone is away")
    succeed(throttle, "anna", HOME)


def test_tokens_count_apart_from_accounts(throttle: Throttle) -> None:
    for number in range(100):
        fail(throttle, 1, f"token {number}", PROXY)
    with pytest.raises(falcon.HTTPTooManyRequests):
        succeed(throttle, "token 100", PROXY)
    succeed(throttle, "user anna", PROXY)
    succeed(throttle, "token 100", HOME)


def test_many_at_once_gain_nothing(throttle: Throttle) -> None:
    """Each counts as failed from its begin."""
    inside, entered, may_end = [], threading.Barrier(21), threading.Event()

    def guess() -> None:
        try:
            with throttle.attempt("anna", HOME):
                inside.append(1)
                entered.wait(200)
                may_end.wait(200)
                raise Unauthorized("wrong")
        except falcon.HTTPTooManyRequests:
            entered.wait(200)
        except Unauthorized:
            pass

    threads = [threading.Thread(target=guess) for _ in range(20)]
    for thread in threads:
        thread.start()
    entered.wait(200)
    may_end.set()
    for thread in threads:
        thread.join(200)
    assert len(inside) == 5


def test_failures_are_forgotten(throttle: Throttle, clock: FrozenClock) -> None:
    fail(throttle, 5, "anna", HOME)
    clock.advance(900)
    fail(throttle, 5, "anna", HOME)


def test_memory_is_bounded(throttle: Throttle, clock: FrozenClock) -> None:
    for number in range(11_000):
        with pytest.raises(Unauthorized), throttle.attempt(f"account {number}", f"address {number}"):
            raise Unauthorized("wrong")
        succeed(throttle, f"account {number}", f"other address {number}")
    assert len(throttle._failures) <= 10_000
    assert len(throttle._known) == 10_000
