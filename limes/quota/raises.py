"""Counts raises of quota by users with the low-privilege permission, under the names of the original."""

from collections.abc import Mapping

from prometheus_client import Gauge

from limes.catalog.catalog import Ref
from limes.quota.changes import QuotaOutcome
from limes.quota.hierarchy import RefusalKind
from limes.quota.rules import Permissions

# prometheus-client would append `_total` to the names of counters. A gauge that is summed over all workers, those that
# have ended included, shows the same numbers under the old names.
_COUNTS = {
    (level, outcome): Gauge(
        f"limes_low_privilege_raise_{level}_{outcome}",
        f"Low-privilege raises of {level} quota that {verb}",
        ["service", "resource"],
        multiprocess_mode="sum",
    )
    for level in ("project", "domain")
    for outcome, verb in (("success", "succeeded"), ("failure", "failed"))
}


def count_lowpriv(level: str, permissions: Mapping[Ref, Permissions], outcome: QuotaOutcome) -> None:
    """Counts what was raised with the low-privilege permission alone, and what was above its limit. `level` is
    `project` or `domain`."""
    lowpriv = {ref for ref, each in permissions.items() if each.can_raise_lowpriv and not each.can_raise}
    for change in outcome.changed:
        if change.ref in lowpriv and change.new > change.old:
            _COUNTS[level, "success"].labels(*change.ref).inc()
    for ref, refusal in outcome.refusals.items():
        above_limit = refusal.kind is RefusalKind.FORBIDDEN and refusal.maximum is not None
        if ref in lowpriv and above_limit:
            _COUNTS[level, "failure"].labels(*ref).inc()
