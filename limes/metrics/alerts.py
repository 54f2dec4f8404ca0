"""How many alerts and inconsistencies there are in the cluster."""

import logging
from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from limes.actions.reports.alerts import Counts, ReportAlerts
from limes.actions.reports.inconsistencies import ReportInconsistencies
from limes.core.alerts import SEVERITIES, Kind
from limes.core.catalog import Catalog
from limes.core.selection import select
from limes.errors import Unavailable
from limes.system import Clock

log = logging.getLogger(__name__)

_MAX_AGE = 60.0
"""The figures are counted over all projects, so not with each scrape of Prometheus."""
_ALERTS = ("limes_alerts", "What GET /v1/alerts lists, by kind and severity; service is empty for capacitors")
_INCONSISTENCIES = (
    "limes_inconsistencies",
    "What GET /v1/inconsistencies lists; kind is domain_quota_overcommitted, project_quota_overspent or"
    " project_quota_mismatch",
)
_NO_SERVICE = frozenset({Kind.CAPACITY_UNREACHABLE})

Inconsistencies = Counter[str]


class AlertGauges(Collector):
    """The gauges. They are missing while the database does not answer."""

    def __init__(self, alerts: ReportAlerts, inconsistencies: ReportInconsistencies, clock: Clock) -> None:
        self._alerts = alerts
        self._inconsistencies = inconsistencies
        self._clock = clock
        self._known: tuple[float, Counts, Inconsistencies] | None = None
        """When they were counted, by the monotonic clock."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields figures that are at most a minute old."""
        try:
            alerts, inconsistencies = self._count()
        except Unavailable as error:
            log.error("metrics: %s", error)
            return
        family = GaugeMetricFamily(*_ALERTS, labels=("kind", "severity", "service"))
        for kind, severities in SEVERITIES.items():
            for severity in severities:
                for service in [""] if kind in _NO_SERVICE else self._catalog.services:
                    family.add_metric((kind.value, severity.value, service), alerts[kind, severity, service])
        yield family
        family = GaugeMetricFamily(*_INCONSISTENCIES, labels=("kind",))
        for name, count in inconsistencies.items():
            family.add_metric((name,), count)
        yield family

    @property
    def _catalog(self) -> Catalog:
        return self._alerts.catalog

    def _count(self) -> tuple[Counts, Inconsistencies]:
        now = self._clock.monotonic()
        if self._known is None or now - self._known[0] >= _MAX_AGE:
            everything = select(self._catalog)
            found = self._inconsistencies.run(everything)
            inconsistencies = Counter(
                domain_quota_overcommitted=len(found.overcommitted),
                project_quota_overspent=len(found.overspent),
                project_quota_mismatch=len(found.mismatched),
            )
            alerts = self._alerts.count(everything, self._clock.now().timestamp())
            self._known = (now, alerts, inconsistencies)
        return self._known[1:]

    def describe(self) -> list[GaugeMetricFamily]:
        """Returns the names, for the registry."""
        return [
            GaugeMetricFamily(*_ALERTS, labels=("kind", "severity", "service")),
            GaugeMetricFamily(*_INCONSISTENCIES, labels=("kind",)),
        ]
