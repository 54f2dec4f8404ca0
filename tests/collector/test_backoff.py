"""A backend that does not answer is asked less and less often, and then only by one call at a time."""

import itertools
import threading
from collections.abc import Callable
from typing import Any, Never

import pytest
import requests
from keystoneauth1 import exceptions as ksa_errors
from msgspec import structs

from limes.backends import BackendError, BackendOutage, calls
from limes.backends.breaker import BreakerRules, CircuitBreaker, CircuitState, GuardedQuotaBackend, is_outage, within
from limes.collector.scrape_usage import claim_scrapes
from limes.collector.service_jobs import push_job, scrape_job
from limes.kernel.errors import BackendPaused
from limes.kernel.metrics import OutcomeCounter
from limes.quota.push_quota import push_quota
from tests.collector.lab import BERLIN, COMPUTE, FakeService, Lab, NoJitter
from tests.support.clock import FrozenClock
from tests.support.processes import eventually

OUTAGE = BackendOutage("no answer")


@pytest.fixture
def watch() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def breaker(watch: FrozenClock) -> CircuitBreaker:
    rules = BreakerRules(failures=3, pause=30, pause_max=100)
    return CircuitBreaker("service compute", rules, jitter=NoJitter(), monotonic=watch.monotonic)


def fail(breaker: CircuitBreaker, error: BackendError | BackendOutage = OUTAGE) -> Never:
    with pytest.raises(type(error)), breaker.call():
        raise error


def fail_during(breaker: CircuitBreaker, meanwhile: Callable[..., Any]) -> None:
    def call() -> Never:
        with breaker.call():
            meanwhile()
            raise OUTAGE

    with pytest.raises(BackendOutage):
        call()


def refuse(breaker: CircuitBreaker) -> None:
    assert not breaker.ready()
    with pytest.raises(BackendPaused), breaker.call():
        pass


def succeed(breaker: CircuitBreaker) -> None:
    with breaker.call():
        pass


def test_the_circuit_opens_after_outages_in_a_row(breaker: CircuitBreaker) -> None:
    fail(breaker)
    fail(breaker)
    succeed(breaker)
    for _ in range(3):
        assert breaker.state is CircuitState.CLOSED
        fail(breaker)
    assert (breaker.state, breaker.failures, breaker.ready()) == (CircuitState.OPEN, 3, False)
    with pytest.raises(BackendPaused, match="did not answer 3 times in a row; next try in 30 s"), breaker.call():
        raise AssertionError("it must not be asked")


def test_one_call_at_a_time_finds_out_whether_it_is_back(breaker: CircuitBreaker, watch: FrozenClock) -> None:
    for _ in range(3):
        fail(breaker)
    pauses = []
    for _ in range(4):
        began = watch.monotonic()
        while not breaker.ready():
            watch.advance(1)
        pauses.append(watch.monotonic() - began)
        assert breaker.state is CircuitState.HALF_OPEN
        fail_during(breaker, lambda: refuse(breaker))
    assert pauses == [30, 60, 100, 100]
    watch.advance(100)
    succeed(breaker)
    assert (breaker.state, breaker.failures) == (CircuitState.CLOSED, 0)
    for _ in range(3):
        fail(breaker)
    watch.advance(30)
    assert breaker.ready(), "the pauses begin anew"


def test_stragglers_do_not_lengthen_the_pause(breaker: CircuitBreaker, watch: FrozenClock) -> None:

    def others_fail() -> None:
        for _ in range(3):
            fail(breaker)
        watch.advance(29)

    fail_during(breaker, others_fail)
    watch.advance(1)
    assert breaker.ready()


def test_an_answer_that_says_no_is_an_answer(breaker: CircuitBreaker) -> None:
    for _ in range(10):
        fail(breaker, BackendError("the quota is below the usage"))
    assert breaker.state is CircuitState.CLOSED


@pytest.mark.parametrize(
    ("error", "outage"),
    [
        (ksa_errors.ConnectFailure("x"), True),
        (ksa_errors.ConnectTimeout("x"), True),
        (ksa_errors.ServiceUnavailable(), True),
        (ksa_errors.InternalServerError(), True),
        (ksa_errors.HttpError("x", http_status=429), True),
        (requests.ReadTimeout(), True),
        (TimeoutError(), True),
        (ksa_errors.BadRequest(), False),
        (ksa_errors.Unauthorized(), False),
        (ZeroDivisionError(), False),
    ],
)
def test_what_is_an_outage(error: Any, outage: bool) -> None:
    wrapped = BackendError("could not be asked")
    wrapped.__cause__ = error
    assert (is_outage(error), is_outage(wrapped)) == (outage, outage)


def test_one_backend_cannot_hold_all_threads(watch: FrozenClock) -> None:
    breaker = CircuitBreaker("service compute", BreakerRules(at_once=2), monotonic=watch.monotonic)
    with breaker.call(), breaker.call():
        assert not breaker.ready()
        with pytest.raises(BackendPaused, match="has not answered 2 other requests yet"), breaker.call():
            pass
    assert breaker.ready()


def test_calls_have_threads_that_call_again() -> None:
    """Threads that were abandoned in other tests may become free at any time, and be the next."""
    caller, released, waiting = threading.get_ident, threading.Event(), list[int]()

    def fail() -> None:
        raise ValueError(caller())

    def fails_in() -> int:
        with pytest.raises(ValueError) as failure:
            within(60, fail)
        return int(str(failure.value))

    def wait() -> None:
        waiting.append(caller())
        released.wait(60)

    def at_once(calls: int) -> set[int]:
        """The threads of so many calls, each within the one before."""
        return {caller()} | (within(60, lambda: at_once(calls - 1)) if calls > 1 else set())

    assert within(60, caller) != caller()
    eventually("one thread calls again and again", lambda: within(60, caller) == fails_in() == within(60, caller))
    with pytest.raises(BackendError, match="no answer within 0 s"):
        within(0, wait)
    eventually("it waits", lambda: waiting)
    assert waiting[0] not in at_once(9)
    released.set()
    # the thread that became free last is the next to call, so one may stay idle for long: more calls reach them all
    calls = itertools.count(10)
    eventually("the thread is free again", lambda: waiting[0] in at_once(next(calls)))


def test_a_plugin_that_never_comes_back_does_not_hold_its_caller(breaker: CircuitBreaker) -> None:
    backend, released = FakeService(COMPUTE), threading.Event()
    backend.during = lambda: released.wait(60)
    guarded = GuardedQuotaBackend(backend, breaker, time_limit=0.05)
    try:
        for _ in range(3):
            with pytest.raises(BackendError, match=r"service compute: no answer within 0\.05 s"):
                calls.set_quota(guarded, COMPUTE, BERLIN, {"cores": 1, "ram": 2})
        with pytest.raises(BackendPaused):
            calls.set_quota(guarded, COMPUTE, BERLIN, {"cores": 1, "ram": 2})
    finally:
        released.set()


def test_failed_scrapes_pause_longer_and_longer(lab: Lab) -> None:
    lab.execute("DELETE FROM project_services WHERE project_id <> %s", lab.project_id())
    lab.compute.error = BackendError("nonsense")
    lab.execute("UPDATE project_services SET failing_since = 7")  # left over by the previous release
    begun = lab.now
    for failures, pause in enumerate([300, 600, 1200, 1800, 1800], start=1):
        assert lab.scrape_next("compute") is False
        assert lab.service("next_scrape_at", "scrape_failures") == (lab.now + pause, failures)
        assert lab.service("failing_since") == (begun,)
        assert lab.service("scrape_error") == ("nonsense",)
        lab.clock.advance(pause)
    lab.compute.error = None
    assert lab.scrape_next("compute") is True
    assert lab.service("next_scrape_at", "scrape_failures", "scrape_error") == (lab.now + 1800, 0, "")
    assert lab.service("failing_since") == (None,)


@pytest.fixture
def guarded(lab: Lab, breaker: CircuitBreaker) -> Lab:
    """The lab with compute behind its circuit."""
    lab.backends["compute"] = GuardedQuotaBackend(lab.compute, breaker, 10)
    return lab


def test_claims_are_given_back_while_the_backend_is_left_alone(guarded: Lab, breaker: CircuitBreaker) -> None:
    for _ in range(3):
        fail(breaker)
    before = guarded.rows("SELECT * FROM project_services ORDER BY id")
    assert guarded.scrape_next("compute") is None
    assert guarded.rows("SELECT * FROM project_services ORDER BY id") == before
    assert guarded.compute.reports == []


def test_quota_is_accepted_at_once_while_the_backend_is_left_alone(
    guarded: Lab, breaker: CircuitBreaker, watch: FrozenClock
) -> None:
    guarded.scrape_all()
    guarded.set_quota("cores", 20)
    for _ in range(3):
        fail(breaker)
    (error,) = push_quota(guarded.limes, guarded.project_id(), ["compute"])
    assert "the backend is not asked, as it did not answer" in error
    assert guarded.service("next_push_at", "push_claimed_until", "push_failures") == (guarded.now, None, 0)
    watch.advance(30)
    assert guarded.push_next("compute") is True
    assert guarded.compute.written == [("berlin", {"cores": 20, "ram": 0})]


def test_jobs_claim_nothing_while_the_backend_is_left_alone(
    guarded: Lab, breaker: CircuitBreaker, watch: FrozenClock
) -> None:
    counter = OutcomeCounter("x", "x", ("service_type", "service_name"), [])
    guarded.values = {"collector.batch": 10}
    usage = scrape_job(guarded.limes, ("compute", "fake"), guarded.listeners, counter, breaker)
    push = push_job(guarded.limes, ("compute", "fake"), counter, breaker)
    guarded.compute.error = requests.ConnectionError("refused")
    assert [usage.step() for _ in range(4)] == [True, True, True, False]
    assert breaker.state is CircuitState.OPEN
    assert guarded.rows("SELECT COUNT(*) FROM project_services WHERE scrape_claimed_until IS NOT NULL") == [(0,)]
    guarded.compute.error = None
    assert push.step() is False
    watch.advance(30)
    guarded.clock.advance(2000)
    while usage.step():
        pass
    assert breaker.state is CircuitState.CLOSED
    guarded.set_quota("cores", 1)
    assert push.step() is True


def test_a_takeover_is_told(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    limes = structs.replace(lab.limes, lease=10)
    assert len(claim_scrapes(limes, "compute", 2)) == 2
    lab.clock.advance(10)
    taken = claim_scrapes(limes, "compute", 3)
    assert [one.project.taken_over for one in taken] == [False, True, True]
    assert caplog.text.count("taken over from a collector that did not finish it") == 2
