"""How many requests for quota wait for a decision, and for how long."""

import logging
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from limes.db.engine import Engine
from limes.db.queries.open_requests import open_requests
from limes.errors import Unavailable
from limes.system import Clock

log = logging.getLogger(__name__)

_OPEN = (
    "limes_open_quota_requests",
    "Open requests for quota; level is project or domain, state is waiting or passed_on (the domain's request waits)",
)
_AGE = (
    "limes_open_quota_requests_age_seconds",
    "Age of the oldest request for quota that waits for a decision and was not passed on; 0 if there is none",
)
_STATES = (("project", "waiting"), ("project", "passed_on"), ("domain", "waiting"))


class RequestGauges(Collector):
    """The gauges. They are missing while the database does not answer."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields the present figures."""
        try:
            rows = self._engine.snapshot(lambda: open_requests(self._engine))
        except Unavailable as error:
            log.error("metrics: %s", error)
            return
        found = {
            ("project" if row.is_of_project else "domain", "passed_on" if row.is_passed_on else "waiting"): row
            for row in rows
        }
        now = self._clock.now().timestamp()
        number = GaugeMetricFamily(*_OPEN, labels=("level", "state"))
        age = GaugeMetricFamily(*_AGE, labels=("level",))
        for level, state in _STATES:
            row = found.get((level, state))
            number.add_metric((level, state), row.number if row else 0)
            if state == "waiting":
                age.add_metric((level,), max(0.0, now - row.oldest_at) if row else 0.0)
        yield from (number, age)

    def describe(self) -> list[GaugeMetricFamily]:
        """Returns the names, for the registry."""
        return [GaugeMetricFamily(*_OPEN, labels=("level", "state")), GaugeMetricFamily(*_AGE, labels=("level",))]
