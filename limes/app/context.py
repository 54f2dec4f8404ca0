"""What use cases work with. They are functions whose first argument is a `Limes`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field, structs

from limes.app.settings import Settings
from limes.audit.events import LIMES, Initiator, Reason
from limes.backends.loader import Backends
from limes.catalog.catalog import Catalog
from limes.db.engine import Engine
from limes.kernel.system import Clock, IdSource, Jitter, RandomJitter, SystemClock, SystemIds
from limes.quota.constraints import NO_OVERRIDES, ConstraintSet, QuotaOverrides
from limes.quota.rules import LowPrivRules, QuotaSet
from limes.requests.rules import AutoApprovalRule


class Cluster(Struct, frozen=True):
    """What the configuration says there is to manage (`limes.app.composition.cluster`)."""

    backends: Backends
    catalog: Catalog
    constraints: ConstraintSet = field(default_factory=ConstraintSet)
    lowpriv: LowPrivRules = field(default_factory=LowPrivRules)
    overrides: Callable[[], QuotaOverrides] = lambda: NO_OVERRIDES
    """Reads their file again if it has changed; the last good state of it stays in force."""
    overrides_are_valid: Callable[[], bool] = lambda: True
    """Whether the file can be used as it is now."""
    auto_approval: Sequence[AutoApprovalRule] = ()
    quota_sets: Mapping[str, QuotaSet] = field(default_factory=dict)
    """Preset sizes by name."""


class Telemetry:
    """What use cases report for metrics. This one counts nothing; `limes.collector.metrics` does. Called from
    any thread after the commit. Must not raise, and must be quick."""

    def drift_found(self, service_type: str) -> None:
        """A scrape found a project whose backend quota was changed outside Limes."""

    def drift_repaired(self, service_type: str) -> None:
        """The backend got the right quota again."""

    def lease_taken_over(self, task: str) -> None:
        """A task was claimed whose former claim was never ended. `task` is the job's name without its service."""


PushQuota = Callable[["Limes", int, Sequence[str]], Sequence[str]]
"""Pushes the quota of a project (id) to the backends of these services (types); returns one line for each error."""


class Limes(Cluster, frozen=True, kw_only=True):
    """Each process builds one. Requests and jobs have copies that say who makes the changes, and why."""

    engine: Engine
    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    ids: IdSource = field(default_factory=SystemIds)
    jitter: Jitter = field(default_factory=RandomJitter)
    telemetry: Telemetry = field(default_factory=Telemetry)
    push_quota: PushQuota | None = None
    """Called after the commit of a change. None: pushing quota is left to the job that does it."""
    lease: float = 300.0
    """For how many seconds this process may keep the task that it claims."""
    observer: str = "limes"
    """The id of this process in audit events."""
    initiator: Initiator = LIMES
    """Who makes the changes."""
    cause: str = ""
    """What the changes that people ask for belong to, for the history: `quota request 12`."""
    reason: Reason = Reason.REQUEST
    """Why quotas are set."""

    def now(self) -> float:
        """Returns the present, in seconds since the epoch."""
        return self.clock.now().timestamp()

    def as_initiator(self, initiator: Initiator) -> "Limes":
        return structs.replace(self, initiator=initiator)

    def with_cause(self, cause: str) -> "Limes":
        return structs.replace(self, cause=cause)


def open_limes(cluster: Cluster, engine: Engine, settings: Settings, **more: Any) -> Limes:
    """Returns what use cases on this cluster work with; `more` are further fields."""
    parts = {name: getattr(cluster, name) for name in Cluster.__struct_fields__}
    defaults = {"lease": settings.collector.lease, "observer": SystemIds().uuid()}
    return Limes(**parts, engine=engine, settings=settings, **{**defaults, **more})
