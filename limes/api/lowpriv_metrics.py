"""Counts raises of quota by users with the low-privilege permission, under the names of the original."""

from prometheus_client import Gauge

from limes.actions.quota_changes import PermissionSource, QuotaOutcome
from limes.core.catalog import Ref
from limes.core.hierarchy import RefusalKind
from limes.core.permissions import Permissions

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


class LowPrivCounter:
    """A `PermissionSource` for one request that remembers its answers."""

    def __init__(self, level: str, permissions: PermissionSource) -> None:
        """`level` is `project` or `domain`."""
        self._level = level
        self._permissions = permissions
        self._lowpriv: set[Ref] = set()

    def __call__(self, ref: Ref) -> Permissions:
        """Returns what the caller may do to the quota of a resource."""
        permissions = self._permissions(ref)
        if permissions.can_raise_lowpriv and not permissions.can_raise:
            self._lowpriv.add(ref)
        return permissions

    def count(self, outcome: QuotaOutcome) -> None:
        """Counts what was raised with the low-privilege permission alone, and what was above its limit."""
        for change in outcome.changed:
            if change.ref in self._lowpriv and change.new > change.old:
                _COUNTS[self._level, "success"].labels(*change.ref).inc()
        for ref, refusal in outcome.refusals.items():
            above_limit = refusal.kind is RefusalKind.FORBIDDEN and refusal.maximum is not None
            if ref in self._lowpriv and above_limit:
                _COUNTS[self._level, "failure"].labels(*ref).inc()
