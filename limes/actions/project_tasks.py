"""What tasks have in common: pauses, claims of cluster-wide jobs, the wanted quota, and what a scrape has found."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from limes.actions.context import Limes
from limes.backends import DomainInfo, ProjectInfo, ResourceUsage
from limes.core.catalog import Catalog, Ref
from limes.core.quota import usable_quota
from limes.db.queries import tasks
from limes.db.queries.quotas import ProjectResourceRow
from limes.db.queries.scrapes import Figures, ResourceRow
from limes.errors import LimesError

log = logging.getLogger(__name__)


HasQuota = ResourceRow | ProjectResourceRow
"""A stored row of a project's resource."""


def project_info(task: tasks.ProjectTask) -> ProjectInfo:
    """Returns the project as backends know it."""
    domain = DomainInfo(task.domain_uuid, task.domain_name)
    return ProjectInfo(task.project_uuid, task.project_name, task.parent_uuid, domain, task.scrape_state)


def next_pause(failures: int, first: float, longest: float) -> float:
    """Returns the seconds to wait after failures in a row: twice as long each time, up to `longest`."""
    return min(longest, first * 2.0 ** min(max(failures - 1, 0), 20))


def never(now: float, *durations: float) -> float:
    """Returns a time later than any that is written at `now`, given all durations that may be added to it."""
    return now + 1.5 * max(durations) + 60


def wanted_quotas(
    catalog: Catalog, task: tasks.ProjectTask, ids: Mapping[str, int], stored: Mapping[int, HasQuota]
) -> dict[str, int]:
    """Returns the quota that the backend should enforce for each resource of the service that tracks quota, by name.
    That is what the project may use, with bursting, or what it uses already if the backend would refuse less. Resources
    without a quota yet get 0. `ids` are the resources' ids by name."""
    wanted = {}
    for name, resource in catalog.services[task.service_type].resources.items():
        if not resource.tracks_quota or name not in ids:
            continue
        ref = (task.service_type, name)
        wanted[name] = wanted_quota(catalog, ref, task.scope, stored.get(ids[name]), has_bursting=task.has_bursting)
    return wanted


def wanted_quota(catalog: Catalog, ref: Ref, scope: str, row: HasQuota | None, *, has_bursting: bool) -> int:
    """Returns the same for one resource that tracks quota; `scope` is the project as `limes.core.catalog` names it."""
    resource = catalog.find(ref)
    quota = row.quota or 0 if row else 0
    usable = usable_quota(quota, catalog.behavior(ref, scope).burst_multiplier if has_bursting else 0)
    return max(usable, row.usage) if row and resource and resource.quota_at_least_usage else usable


@dataclass(frozen=True, slots=True)
class Scrape:
    """A service of a project, whose figures are written in the present transaction."""

    task: tasks.ProjectTask
    ids: Mapping[str, int]
    """Of the service's resources, by name."""
    stored: Figures
    """What was there before. The rows are locked."""
    present: Figures
    usages: Mapping[str, ResourceUsage]
    """The backend's report, by resource."""
    now: float


Listener = Callable[[Limes, Scrape], None]
"""Called in the transaction of the scrape, whose claim and locks keep all others from the project's figures. These are
written after it, and what it writes goes to PostgreSQL with them, unless somebody reads after that; so no count of rows
comes back."""


def claim_job(limes: Limes, name: str, *durations: float) -> float | None:
    """Returns when the claim ends; None if the job is not due, or another collector does it. `durations` are those that
    may be added to the present to say when it is due again."""
    engine, now = limes.engine, limes.now()
    until, horizon = now + limes.lease, never(now, *durations, limes.lease)
    return until if engine.atomic(partial(tasks.claim_job, engine, name, now, until, horizon)) else None


def finish_job(limes: Limes, name: str, claimed_until: float, pause: float, message: str) -> None:
    """Ends the claim. The job is due again after about `pause` seconds; `message` says why it failed, if it did."""
    engine, now = limes.engine, limes.now()
    next_run_at = now + limes.jitter.spread(pause)
    engine.atomic(partial(tasks.finish_job, engine, name, claimed_until, now, next_run_at, message))


def run_if_due(limes: Limes, name: str, work: Callable[[Limes], object], interval: float) -> bool | None:
    """Does the job's work each `interval` seconds. Returns whether it succeeded; None if it was not due, or another
    collector does it. Another collector does it again if it takes longer than the lease, so running it twice at the
    same time must be safe."""
    claimed_until = claim_job(limes, name, interval)
    if claimed_until is None:
        return None
    message = ""
    try:
        work(limes)
    except LimesError as error:
        message = str(error)
        log.error("%s: %s", name, message)
    except Exception as error:  # a bug: recorded like other errors, so that the job runs again at its next time
        message = f"internal error: {type(error).__name__}"
        log.exception("%s failed", name)
    finish_job(limes, name, claimed_until, interval, message)
    return not message
