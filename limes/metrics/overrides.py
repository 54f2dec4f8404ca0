"""Gauges about quota overrides: whether their file can be used, and how many have no effect."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from limes.actions.reports.ineffective_overrides import FindIneffectiveOverrides, Reason
from limes.core.overrides import QuotaOverrides
from limes.errors import Unavailable

log = logging.getLogger(__name__)

_VALID = (
    "limes_quota_overrides_valid",
    "1 if the file of quota_overrides_path can be used, or none is configured; 0 if an earlier state of it is in force",
)
_INEFFECTIVE = (
    "limes_ineffective_quota_overrides",
    "Quota overrides without effect; reason is no-project, not-autogrow or below-need",
)


class OverrideGauges(Collector):
    """The gauges. The second one is missing while the database does not answer."""

    def __init__(
        self,
        find: FindIneffectiveOverrides,
        overrides: Callable[[], QuotaOverrides],
        is_valid: Callable[[], bool],
    ) -> None:
        self._find = find
        self._overrides = overrides
        self._is_valid = is_valid

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields the present figures."""
        valid = GaugeMetricFamily(*_VALID)
        valid.add_metric((), int(self._is_valid()))
        yield valid
        try:
            found = Counter(each.reason for each in self._find.run(self._overrides()))
        except Unavailable as error:
            log.error("metrics: %s", error)
            return
        ineffective = GaugeMetricFamily(*_INEFFECTIVE, labels=("reason",))
        for reason in Reason:
            ineffective.add_metric((reason,), found[reason])
        yield ineffective

    def describe(self) -> list[GaugeMetricFamily]:
        """Returns the names, for the registry."""
        return [GaugeMetricFamily(*_VALID), GaugeMetricFamily(*_INEFFECTIVE, labels=("reason",))]
