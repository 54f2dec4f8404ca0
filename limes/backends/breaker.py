"""A circuit breaker for each backend: one that does not answer is left alone for a while, then tried with one call.

Each process finds out for itself, in memory: asking the database before each call would cost more than it saves, and a
backend that one process cannot reach may well answer another. (pybreaker holds its lock during a call, so it would let
only one thread at a time call a backend.)

These are outages: no connection, no answer in time, HTTP 429 and 5xx, `BackendOutage`, which answers beyond the limits
of `limes.kernel.outgoing` are as well. A refusal or a report that makes no sense shows that the backend is there; the
pauses of the single project deal with it.

Backends of all kinds are called with a time limit, so that their calls end even if the plugin's do not.
"""

import contextvars
import itertools
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import requests
from keystoneauth1 import exceptions as ksa_errors
from msgspec import Struct

from limes.backends import base
from limes.catalog.catalog import Ref, ServiceDef
from limes.kernel.errors import BackendOutage, BackendPaused
from limes.kernel.outgoing.room import with_its_answers
from limes.kernel.system import Jitter, RandomJitter

log = logging.getLogger(__name__)


class CircuitState(Enum):
    """Closed: calls go through. Open: none does. Half-open: one does, to try whether the backend is back."""

    CLOSED = "closed"
    HALF_OPEN = "half-open"
    OPEN = "open"


class BreakerRules(Struct, frozen=True):
    """When a circuit opens, and for how long. Durations are in seconds."""

    failures: int = 5
    """Outages in a row."""
    pause: float = 30.0
    """The first pause; it doubles with each call that finds the backend still out, up to `pause_max`."""
    pause_max: float = 300.0
    at_once: int | None = None
    """How many calls may run at the same time, so that one backend cannot hold all threads. None: any number."""


class CircuitBreaker:
    """The circuit to one backend. Safe to use from many threads."""

    def __init__(
        self,
        name: str,
        rules: BreakerRules | None = None,
        *,
        jitter: Jitter | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`name` is for messages, such as `service compute`."""
        self.name = name
        self._rules = rules or BreakerRules()
        self._jitter = jitter or RandomJitter()
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._calls: set[int] = set()
        self._probe: int | None = None
        self.failures = 0
        """How many calls in a row have found no answer."""
        self._pauses = 0
        self._open_until: float | None = None

    @property
    def state(self) -> CircuitState:
        with self._lock:
            return self._state()

    def ready(self) -> bool:
        with self._lock:
            return not self._refusal()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Counts how the block's call of the backend ends. Raises `BackendPaused` instead while the circuit is open."""
        number = self._begin()
        try:
            yield
        except BaseException as error:
            self._end(number, outage=is_outage(error))
            raise
        self._end(number, outage=False)

    def _state(self) -> CircuitState:
        if self._open_until is None:
            return CircuitState.CLOSED
        return CircuitState.OPEN if self._monotonic() < self._open_until else CircuitState.HALF_OPEN

    def _refusal(self) -> str:
        state = self._state()
        if state is CircuitState.OPEN or (state is CircuitState.HALF_OPEN and self._probe is not None):
            wait = max(0.0, (self._open_until or 0.0) - self._monotonic())
            return f"is not asked, as it did not answer {self.failures} times in a row; next try in {wait:.0f} s"
        if self._rules.at_once is not None and len(self._calls) >= self._rules.at_once:
            return f"is not asked, as it has not answered {len(self._calls)} other requests yet"
        return ""

    def _begin(self) -> int:
        with self._lock:
            refusal = self._refusal()
            if refusal:
                raise BackendPaused(f"{self.name}: the backend {refusal}")
            number = next(self._numbers)
            self._calls.add(number)
            if self._open_until is not None:
                self._probe = number
            return number

    def _end(self, number: int, *, outage: bool) -> None:
        with self._lock:
            self._calls.discard(number)
            probed, self._probe = self._probe == number, None if self._probe == number else self._probe
            if not outage:
                self._close()
            else:
                self.failures += 1
                # calls that began before the circuit opened say nothing new when they fail
                if probed or (self._open_until is None and self.failures >= self._rules.failures):
                    self._open()

    def _open(self) -> None:
        pause = min(self._rules.pause_max, self._rules.pause * 2 ** min(self._pauses, 20))
        self._pauses += 1
        self._open_until = self._monotonic() + self._jitter.spread(pause)
        log.error("%s: no answer %d times in a row, no more calls for %.0f s", self.name, self.failures, pause)

    def _close(self) -> None:
        if self._open_until is not None:
            log.warning("%s: answers again", self.name)
        self.failures, self._pauses, self._open_until = 0, 0, None


_NO_ANSWER = (
    BackendOutage,
    ksa_errors.ConnectionError,
    requests.ConnectionError,
    requests.Timeout,
    TimeoutError,
    ConnectionError,
)


def is_outage(error: BaseException | None) -> bool:
    """Returns whether the error, or the one that it comes from, says that the backend as a whole does not answer."""
    while error is not None:
        if isinstance(error, _NO_ANSWER):
            return True
        if isinstance(error, ksa_errors.HttpError) and (error.http_status == 429 or (error.http_status or 0) >= 500):
            return True
        error = error.__cause__
    return False


T = TypeVar("T")


class GuardedQuotaBackend(base.QuotaBackend):
    """Calls another backend. Raises `BackendPaused` while its circuit is open."""

    def __init__(self, inner: base.QuotaBackend, breaker: CircuitBreaker, time_limit: float) -> None:
        self._inner, self._breaker, self._time_limit = inner, breaker, time_limit

    def describe(self) -> ServiceDef:
        return self._inner.describe()

    def report_usage(self, project: base.ProjectInfo) -> base.UsageReport:
        return self._call(lambda: self._inner.report_usage(project))

    def set_quota(self, project: base.ProjectInfo, quotas: Mapping[str, int]) -> None:
        self._call(lambda: self._inner.set_quota(project, quotas))

    def set_quota_by_az(
        self, project: base.ProjectInfo, quotas: Mapping[str, int], azs: Mapping[str, Mapping[str, int]]
    ) -> None:
        self._call(lambda: self._inner.set_quota_by_az(project, quotas, azs))

    def _call(self, call: Callable[[], T]) -> T:
        with self._breaker.call():
            return within(self._time_limit, call)


class TimedCapacityBackend(base.CapacityBackend):
    """Calls another backend, for `time_limit` seconds at most."""

    def __init__(self, inner: base.CapacityBackend, time_limit: float) -> None:
        self._inner, self._time_limit = inner, time_limit

    def report_capacity(self) -> base.CapacityReport:
        return within(self._time_limit, self._inner.report_capacity)

    def needs_demand(self) -> Collection[Ref]:
        return within(self._time_limit, self._inner.needs_demand)

    def report_capacity_for(self, demand: base.Demand) -> base.CapacityReport:
        return within(self._time_limit, lambda: self._inner.report_capacity_for(demand))

    def resources(self) -> Collection[Ref]:
        return self._inner.resources()


class TimedDiscoveryBackend(base.DiscoveryBackend):
    """Calls another backend, for `time_limit` seconds a list at most, with a place from `admit`: it asks Keystone."""

    def __init__(
        self, inner: base.DiscoveryBackend, time_limit: float, admit: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._inner, self._time_limit, self._admit = inner, time_limit, admit

    def list_domains(self) -> list[base.DomainInfo]:
        with self._admit():
            return within(self._time_limit, lambda: list(self._inner.list_domains()))

    def list_projects(self, domain: base.DomainInfo) -> list[base.ProjectInfo]:
        with self._admit():
            return within(self._time_limit, lambda: list(self._inner.list_projects(domain)))


def within(seconds: float, call: Callable[[], T]) -> T:
    """Returns what `call` returns or raises, or `BackendOutage` if that takes too long. A socket's timeout begins again
    with each byte, so a backend that sends one now and then could hold a thread for ever. So another thread calls. It
    does so again and again, unless it is abandoned when the time is up: then once that call has ended."""
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    try:
        caller = _idle.pop()
    except IndexError:
        caller = _Caller()
    caller.calls.put((f"{threading.current_thread().name}-call", contextvars.copy_context(), call, answers))
    try:
        answer, error = answers.get(timeout=seconds)
    except Empty:
        raise BackendOutage(f"no answer within {seconds:g} s") from None
    if error is not None:
        try:
            raise error
        finally:
            error = None  # its traceback would keep this frame, which would keep it
    return answer  # type: ignore[no-any-return]  # what the call returned


class _Caller:
    """A thread that calls for others. To start one takes as long as many calls."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[tuple[str, contextvars.Context, Callable[[], Any], SimpleQueue[Any]]] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while True:
            self._call(*self.calls.get())

    def _call(
        self, name: str, context: contextvars.Context, call: Callable[[], Any], answers: SimpleQueue[Any]
    ) -> None:
        self._thread.name = name
        try:
            answer = context.run(with_its_answers, call)
        except BaseException as error:  # raised again by the thread that waits
            _idle.append(self)
            answers.put((None, error))
        else:
            _idle.append(self)
            answers.put((answer, None))


_idle: list[_Caller] = []
os.register_at_fork(after_in_child=_idle.clear)  # threads do not outlive it
