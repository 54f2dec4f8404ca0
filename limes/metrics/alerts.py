"""How many alerts and inconsistencies there are in the cluster."""

from collections import Counter

from limes.actions.context import Limes
from limes.actions.reports.attention import Counts, count_alerts
from limes.actions.reports.inconsistencies import find_inconsistencies
from limes.core.alerts import SEVERITIES, Kind
from limes.core.selection import select
from limes.metrics.samples import Family, SampleCollector, Samples

_MAX_AGE = 60.0
"""The figures are counted over all projects, so not with each scrape of Prometheus."""
_FAMILIES = (
    Family(
        "limes_alerts",
        "What GET /v1/alerts lists, by kind and severity; service is empty for capacitors",
        ("kind", "severity", "service"),
    ),
    Family(
        "limes_inconsistencies",
        "What GET /v1/inconsistencies lists; kind is domain_quota_overcommitted, project_quota_overspent or"
        " project_quota_mismatch",
        ("kind",),
    ),
)
_NO_SERVICE = frozenset({Kind.CAPACITY_UNREACHABLE})

Inconsistencies = Counter[str]


class AlertGauges(SampleCollector):
    """The gauges, at most a minute old."""

    def __init__(self, limes: Limes) -> None:
        super().__init__(_FAMILIES, self._samples, __name__)
        self._limes = limes
        self._known: tuple[float, Counts, Inconsistencies] | None = None
        """When they were counted, by the monotonic clock."""

    def _samples(self) -> Samples:
        alerts, inconsistencies = self._count()
        for kind, severities in SEVERITIES.items():
            for severity in severities:
                for service in [""] if kind in _NO_SERVICE else self._limes.catalog.services:
                    count = alerts[kind, severity, service]
                    yield "limes_alerts", (kind.value, severity.value, service), count
        for name, count in inconsistencies.items():
            yield "limes_inconsistencies", (name,), count

    def _count(self) -> tuple[Counts, Inconsistencies]:
        now = self._limes.clock.monotonic()
        if self._known is None or now - self._known[0] >= _MAX_AGE:
            everything = select(self._limes.catalog)
            found = find_inconsistencies(self._limes, everything)
            inconsistencies = Counter(
                domain_quota_overcommitted=len(found.overcommitted),
                project_quota_overspent=len(found.overspent),
                project_quota_mismatch=len(found.mismatched),
            )
            alerts = count_alerts(self._limes, everything)
            self._known = (now, alerts, inconsistencies)
        return self._known[1:]
