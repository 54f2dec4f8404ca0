"""What `limes status` shows: the database's state, and the circuits as a collector sees them."""

from dataclasses import dataclass

import requests
from prometheus_client.parser import text_string_to_metric_families

from limes.actions.reports import status
from limes.composition.common import load_settings, open_checked_engine
from limes.errors import BackendError
from limes.metrics.circuits import NAME, STATES
from limes.outgoing import GuardedSession
from limes.system import SystemClock

_PATIENCE = 3.0


@dataclass(frozen=True, slots=True)
class Circuit:
    """The circuit to a backend: `closed`, `half-open` or `open`."""

    backend: str
    state: str


@dataclass(frozen=True, slots=True)
class Status:
    """Everything. `circuits` is None if no collector answers."""

    report: status.StatusReport
    stale_after: float
    collector: str
    circuits: list[Circuit] | None


def read_status(collector: str | None = None) -> Status:
    """Reads the database, and asks the collector at `HOST:PORT` (by default `collector.listen`) for its circuits."""
    settings = load_settings()
    engine = open_checked_engine(settings, "limes-status")
    try:
        stale_after = settings.collector.stale_after
        report = status.run(engine, SystemClock().now().timestamp(), stale_after)
    finally:
        engine.close()
    address = collector or _reachable(settings.collector.listen)
    return Status(report, stale_after, address, _circuits(address))


def _reachable(listen: str) -> str:
    """Where to ask a process that listens like this on this machine."""
    host, _, port = listen.rpartition(":")
    return f"127.0.0.1:{port}" if host.strip("[]") in ("0.0.0.0", "::", "*") else listen  # noqa: S104 - compared only


def _circuits(collector: str) -> list[Circuit] | None:
    try:
        answer = GuardedSession().get(f"http://{collector}/metrics", timeout=_PATIENCE)
        answer.raise_for_status()
        families = list(text_string_to_metric_families(answer.text))
    except (requests.RequestException, BackendError, ValueError):
        return None
    names = {value: name for name, value in STATES.items()}
    return [
        Circuit(sample.labels["backend"], names[int(sample.value)])
        for family in families
        if family.name == NAME
        for sample in family.samples
    ]
