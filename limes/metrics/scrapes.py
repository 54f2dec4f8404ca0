"""Gauges about the state of scraping, read from the database when Prometheus asks."""

import logging
from collections.abc import Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from limes.db.engine import Engine
from limes.db.queries import scrape_state as queries
from limes.errors import Unavailable

log = logging.getLogger(__name__)

_HELP = {
    "limes_oldest_scraped_at": "Time of the oldest last scrape of a project, by service, in seconds since the epoch",
    "limes_newest_scraped_at": "Time of the newest scrape of a project, by service, in seconds since the epoch",
    "limes_capacity_plugin_metrics_ok": "Whether the last scrape of the capacitor succeeded (1 or 0)",
    "limes_plugin_metrics_ok": "Whether the last scrape of the project's service succeeded (1 or 0)",
    "limes_quota_pushes_pending": "Projects whose backend quota has to be written, by service",
}


class ScrapeGauges(Collector):
    """The gauges. While the database does not answer there are none."""

    def __init__(self, engine: Engine, service_names: Mapping[str, str]) -> None:
        """`service_names` are the values of the label `service_name` by service type."""
        self._engine = engine
        self._names = service_names

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The present figures."""
        try:
            state = self._engine.snapshot(lambda: queries.read(self._engine))
        except Unavailable as error:
            log.error("metrics: %s", error)
            return
        labels = ("service", "service_name")
        oldest, newest, pending = (
            _gauge(name, labels)
            for name in ("limes_oldest_scraped_at", "limes_newest_scraped_at", "limes_quota_pushes_pending")
        )
        for row in state.services:
            values = (row.service, self._names.get(row.service, ""))
            if row.oldest is not None and row.newest is not None:
                oldest.add_metric(values, row.oldest)
                newest.add_metric(values, row.newest)
            pending.add_metric(values, row.pending)
        yield from (oldest, newest, pending)
        yield self._capacitors(state)
        yield self._projects(state)

    def _capacitors(self, state: queries.ScrapeState) -> GaugeMetricFamily:
        family = _gauge("limes_capacity_plugin_metrics_ok", ("capacitor",))
        for name, ok in state.capacitors:
            family.add_metric((name,), int(ok))
        return family

    def _projects(self, state: queries.ScrapeState) -> GaugeMetricFamily:
        family = _gauge("limes_plugin_metrics_ok", ("domain", "domain_id", "project", "project_id", "service"))
        for row in state.projects:
            family.add_metric((row.domain, row.domain_id, row.project, row.project_id, row.service), int(row.ok))
        return family

    def describe(self) -> list[GaugeMetricFamily]:
        """The names, for the registry."""
        return [_gauge(name, ()) for name in _HELP]


def _gauge(name: str, labels: tuple[str, ...]) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, _HELP[name], labels=labels)
