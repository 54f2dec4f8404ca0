"""Backends whose calls end in time even if the plugin's do not, and quota backends behind circuit breakers."""

import contextvars
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from limes.backends.base import CapacityBackend, DiscoveryBackend, QuotaBackend
from limes.backends.breaker import CircuitBreaker
from limes.backends.reports import CapacityReport, Demand, DomainInfo, ProjectInfo, UsageReport
from limes.core.catalog import Ref, ServiceDef
from limes.errors import BackendOutage
from limes.outgoing.room import with_its_answers

T = TypeVar("T")


@dataclass(frozen=True)
class GuardedQuotaBackend(QuotaBackend):
    """Calls another backend. Raises `BackendPaused` while its circuit is open."""

    inner: QuotaBackend
    breaker: CircuitBreaker
    time_limit: float
    """Seconds for each call."""

    def describe(self) -> ServiceDef:
        return self.inner.describe()

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        return self._call(lambda: self.inner.report_usage(project))

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        self._call(lambda: self.inner.set_quota(project, quotas))

    def set_quota_by_az(
        self, project: ProjectInfo, quotas: Mapping[str, int], azs: Mapping[str, Mapping[str, int]]
    ) -> None:
        self._call(lambda: self.inner.set_quota_by_az(project, quotas, azs))

    def _call(self, call: Callable[[], T]) -> T:
        with self.breaker.call():
            return within(self.time_limit, call)


@dataclass(frozen=True)
class TimedCapacityBackend(CapacityBackend):
    """Calls another backend, for `time_limit` seconds at most."""

    inner: CapacityBackend
    time_limit: float

    def report_capacity(self) -> CapacityReport:
        return within(self.time_limit, self.inner.report_capacity)

    def needs_demand(self) -> Collection[Ref]:
        return within(self.time_limit, self.inner.needs_demand)

    def report_capacity_for(self, demand: Demand) -> CapacityReport:
        return within(self.time_limit, lambda: self.inner.report_capacity_for(demand))

    def resources(self) -> Collection[Ref]:
        return self.inner.resources()


@dataclass(frozen=True)
class TimedDiscoveryBackend(DiscoveryBackend):
    """Calls another backend, for `time_limit` seconds a list at most, with a place from `admit`: it asks Keystone."""

    inner: DiscoveryBackend
    time_limit: float
    admit: Callable[[], AbstractContextManager[None]]

    def list_domains(self) -> list[DomainInfo]:
        with self.admit():
            return within(self.time_limit, lambda: list(self.inner.list_domains()))

    def list_projects(self, domain: DomainInfo) -> list[ProjectInfo]:
        with self.admit():
            return within(self.time_limit, lambda: list(self.inner.list_projects(domain)))


def within(seconds: float, call: Callable[[], T]) -> T:
    """Returns what `call` returns or raises, or `BackendOutage` if that takes too long.

    A socket's timeout begins again with each byte, so a backend that sends one now and then could hold a thread for
    ever. So the call has a thread of its own, which is abandoned when the time is up.
    """
    outcome: dict[str, Any] = {}
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome["answer"] = context.run(with_its_answers, call)
        except BaseException as error:  # raised again by the thread that waits
            outcome["error"] = error

    thread = threading.Thread(target=work, name=f"{threading.current_thread().name}-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise BackendOutage(f"no answer within {seconds:g} s")
    if "error" in outcome:
        try:
            raise outcome["error"]
        finally:
            outcome.clear()  # it would keep the error, and the error's traceback would keep it
    return outcome["answer"]  # type: ignore[no-any-return]  # what the call returned
