"""Does a cluster-wide job when it is due, in one collector at a time."""

import logging
from collections.abc import Callable

from limes.actions.context import Limes
from limes.actions.project_tasks import never
from limes.db.queries import tasks
from limes.errors import LimesError

log = logging.getLogger(__name__)


def run_if_due(limes: Limes, name: str, work: Callable[[], object], interval: float) -> bool | None:
    """Does the job's work each `interval` seconds. Returns whether it succeeded; None if it was not due, or another
    collector does it.

    Another collector does it again if it takes longer than the lease, so running it twice at the same time must be
    safe.
    """
    engine, started = limes.engine, limes.now()
    lease, horizon = started + limes.lease, never(started, interval, limes.lease)
    if not engine.atomic(lambda: tasks.claim_job(engine, name, started, lease, horizon)):
        return None
    message = ""
    try:
        work()
    except LimesError as error:
        message = str(error)
        log.error("%s: %s", name, message)
    except Exception as error:  # a bug: recorded like other errors, so that the job runs again at its next time
        message = f"internal error: {type(error).__name__}"
        log.exception("%s failed", name)
    now = limes.now()
    next_run_at = now + limes.jitter.spread(interval)
    engine.atomic(lambda: tasks.finish_job(engine, name, lease, now, next_run_at, message))
    return not message
