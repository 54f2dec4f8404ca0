"""Claims of jobs that one process does for the whole cluster, and the pauses between their runs."""

import logging
from collections.abc import Callable
from functools import partial

from msgspec import Struct

from limes.app.context import Limes
from limes.kernel.errors import LimesError
from limes.projects import tasks

log = logging.getLogger(__name__)


class PeriodicJob(Struct, frozen=True):
    """Something that one of all collectors does at regular intervals, and the counter of its runs."""

    name: str
    work: Callable[[Limes], object]
    every: Callable[[Limes], float]
    """Returns the seconds between two runs."""
    counter: str
    help: str
    dialects: tuple[str, ...] = ("sqlite", "postgresql")
    """The databases that need it."""


def next_pause(failures: int, first: float, longest: float) -> float:
    """Returns the seconds to wait after failures in a row: twice as long each time, up to `longest`."""
    return min(longest, first * 2.0 ** min(max(failures - 1, 0), 20))


def never(now: float, *durations: float) -> float:
    """Returns a time later than any that is written at `now`, given all durations that may be added to it."""
    return now + 1.5 * max(durations) + 60


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
