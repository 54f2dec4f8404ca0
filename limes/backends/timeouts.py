"""Backends whose calls end in time, even if the plugin does not keep to it; quota backends behind circuit breakers."""

import contextvars
import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from limes.backends.base import CapacityBackend, DiscoveryBackend, QuotaBackend
from limes.backends.breaker import CircuitBreaker
from limes.backends.reports import CapacityReport, Demand, DomainInfo, ProjectInfo, UsageReport
from limes.core.catalog import Ref, ServiceDef
from limes.errors import BackendOutage

T = TypeVar("T")


class GuardedQuotaBackend(QuotaBackend):
    """Asks another backend. Raises `BackendPaused` while that one's circuit is open."""

    def __init__(self, inner: QuotaBackend, breaker: CircuitBreaker, time_limit: float) -> None:
        """`time_limit` is in seconds, for each call."""
        self.inner = inner
        """The plugin's object."""
        self._breaker = breaker
        self._time_limit = time_limit

    def describe(self) -> ServiceDef:
        """The plugin's description."""
        return self.inner.describe()

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        """The plugin's report."""
        return self._ask(lambda: self.inner.report_usage(project))

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        """Has the plugin set them."""
        self._ask(lambda: self.inner.set_quota(project, quotas))

    def _ask(self, question: Callable[[], T]) -> T:
        with self._breaker.call():
            return within(self._time_limit, question)


class TimedCapacityBackend(CapacityBackend):
    """Asks another backend, for so many seconds at most."""

    def __init__(self, inner: CapacityBackend, time_limit: float) -> None:
        self.inner = inner
        self._time_limit = time_limit

    def report_capacity(self) -> CapacityReport:
        """The plugin's report."""
        return within(self._time_limit, self.inner.report_capacity)

    def needs_demand(self) -> Collection[Ref]:
        """The plugin's."""
        return within(self._time_limit, self.inner.needs_demand)

    def report_capacity_for(self, demand: Demand) -> CapacityReport:
        """The plugin's report."""
        return within(self._time_limit, lambda: self.inner.report_capacity_for(demand))

    def resources(self) -> Collection[Ref]:
        """The plugin's."""
        return self.inner.resources()


class TimedDiscoveryBackend(DiscoveryBackend):
    """Asks another backend, for so many seconds a list at most."""

    def __init__(self, inner: DiscoveryBackend, time_limit: float) -> None:
        self.inner = inner
        self._time_limit = time_limit

    def list_domains(self) -> list[DomainInfo]:
        """The plugin's domains."""
        return within(self._time_limit, lambda: list(self.inner.list_domains()))

    def list_projects(self, domain: DomainInfo) -> list[ProjectInfo]:
        """The plugin's projects."""
        return within(self._time_limit, lambda: list(self.inner.list_projects(domain)))


def within(seconds: float, question: Callable[[], T]) -> T:
    """What `question` answers or raises, or `BackendOutage` when that takes too long.

    Timeouts of sockets are between two bytes, so a backend that sends one now and then could hold a thread for ever.
    The question is asked in a thread of its own, which is left to itself when the time is up.
    """
    outcome: dict[str, Any] = {}
    context = contextvars.copy_context()

    def ask() -> None:
        try:
            outcome["answer"] = context.run(question)
        except BaseException as error:  # it is raised again where somebody waits for it
            outcome["error"] = error

    thread = threading.Thread(target=ask, name=f"{threading.current_thread().name}-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise BackendOutage(f"no answer within {seconds:g} s")
    if "error" in outcome:
        raise outcome["error"]
    return outcome["answer"]  # type: ignore[no-any-return]  # it is what the question answered
