"""Does a cluster-wide job when it is due, in one collector at a time."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from limes.actions.project_tasks import never
from limes.db.engine import Engine
from limes.db.queries import tasks
from limes.errors import LimesError
from limes.system import Clock, Jitter

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunJob:
    """A job with what it works with. Durations are in seconds.

    Another collector does `work` again if it takes longer than the lease, so running it twice at the same time must be
    safe.
    """

    engine: Engine
    clock: Clock
    jitter: Jitter
    name: str
    work: Callable[[], object]
    interval: float
    lease: float = 300.0

    def run_if_due(self) -> bool | None:
        """Returns whether the job succeeded; None if it was not due, or another collector does it."""
        started = self._now()
        lease, horizon = started + self.lease, never(started, self.interval, self.lease)
        if not self.engine.atomic(lambda: tasks.claim_job(self.engine, self.name, started, lease, horizon)):
            return None
        message = ""
        try:
            self.work()
        except LimesError as error:
            message = str(error)
            log.error("%s: %s", self.name, message)
        except Exception as error:  # a bug: recorded like other errors, so that the job runs again at its next time
            message = f"internal error: {type(error).__name__}"
            log.exception("%s failed", self.name)
        now = self._now()
        next_run_at = now + self.jitter.spread(self.interval)
        self.engine.atomic(lambda: tasks.finish_job(self.engine, self.name, lease, now, next_run_at, message))
        return not message

    def _now(self) -> float:
        return self.clock.now().timestamp()
