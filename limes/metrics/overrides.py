"""Gauges about quota overrides: whether their file can be used, and how many have no effect."""

from collections import Counter
from collections.abc import Callable

from limes.actions.context import Limes
from limes.actions.reports.ineffective_overrides import Reason, find_ineffective
from limes.metrics.samples import Family, Samples, shows


@shows(
    Family(
        "limes_quota_overrides_valid",
        "1 if the file of quota_overrides_path can be used, or none is configured; 0 if an earlier state of it is in"
        " force",
    )
)
def override_validity(is_valid: Callable[[], bool]) -> Samples:
    yield "limes_quota_overrides_valid", (), int(is_valid())


@shows(
    Family(
        "limes_ineffective_quota_overrides",
        "Quota overrides without effect; reason is no-project, not-autogrow or below-need",
        ("reason",),
    )
)
def ineffective_overrides(limes: Limes) -> Samples:
    found = Counter(each.reason for each in find_ineffective(limes, limes.overrides()))
    for reason in Reason:
        yield "limes_ineffective_quota_overrides", (reason,), found[reason]
