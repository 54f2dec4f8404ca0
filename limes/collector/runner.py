"""Runs the collector's jobs. APScheduler says when to poll; the database says what is due."""

import fcntl
import logging
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent import futures
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector as MetricsSource

from limes.collector.http import operational_server, show_metrics
from limes.collector.loop import Job, Loop, watch_for_jumps
from limes.db.engine import Engine
from limes.kernel.errors import LimesError, StartupError
from limes.reports.shared_figures import SharedFigures

log = logging.getLogger(__name__)

_held: list[IO[str]] = []
"""Files whose locks this process holds until it ends, however it ends."""


class Collector:
    """All jobs of one process. Each is polled every `poll_interval` seconds, by one poll at a time."""

    def __init__(
        self,
        engine: Engine,
        jobs: Sequence[Job],
        *,
        metrics: Sequence[MetricsSource] = (),
        state: Sequence[MetricsSource] = (),
        done: Callable[[str, float], None] = lambda name, seconds: None,
        may_work: Callable[[], bool] = lambda: True,
        figures: SharedFigures | None = None,
        listen: str = "127.0.0.1:0",
        poll_interval: float = 3.0,
    ) -> None:
        """Serves on `listen`; port 0 means any free one. `/metrics/process` has `metrics`, which are about this
        process; `/metrics` also has `state`, which every collector shows alike, and `figures` of the cloud. After each
        task, `done` gets the job's name and the task's duration in seconds. `may_work` is asked before each task."""
        self._engine = engine
        self.loops = [Loop(job, self._report_task, may_work) for job in jobs]
        """One for each job."""
        self.registry = CollectorRegistry()
        """All metrics that this collector serves, but the figures of the cloud."""
        self._own = CollectorRegistry()
        for source in metrics:
            self._own.register(source)
        for source in (*metrics, *state, *([figures] if figures else [])):
            self.registry.register(source)
        self.listeners = [done]
        """Each gets the job's name and the task's duration in seconds after each task."""
        self._figures, self._listen, self._poll_interval = figures, listen, poll_interval
        self._running = ExitStack()
        self._scheduler: BackgroundScheduler | None = None
        self._stopped = threading.Event()
        self.port = 0
        """The port on which it serves, after `start()`."""

    def _report_task(self, job: str, seconds: float) -> None:
        for listener in self.listeners:
            listener(job, seconds)

    def due(self) -> int:
        """Returns how many tasks wait for a collector."""
        families = {family.name: family for family in self.registry.collect()}
        due = families.get("limes_tasks_due")
        return sum(int(sample.value) for sample in due.samples) if due else 0

    def start(self) -> None:
        """Begins to work, and returns. Raises `StartupError` if the address cannot be used."""
        metrics = {
            "/metrics": partial(show_metrics, self.registry, self._figures),
            "/metrics/process": partial(show_metrics, self._own, None),
        }
        self.port = self._running.enter_context(operational_server(self._listen, self._engine, metrics))
        # It warns about each poll that it leaves out because the one before is still busy, which is what we want.
        logging.getLogger("apscheduler.scheduler").setLevel(logging.ERROR)
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(max(1, len(self.loops)))},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        for loop in self.loops:
            self._scheduler.add_job(
                loop.drain, "interval", id=loop.job.name, seconds=self._poll_interval, next_run_time=datetime.now(UTC)
            )
        self._scheduler.start()
        # the scheduler goes by the time of day: after a jump back it would sleep until that time comes again
        watch = (self._poll_now, self._poll_interval, self._stopped)
        threading.Thread(target=watch_for_jumps, args=watch, name="clock", daemon=True).start()
        log.info("collector started with %d jobs, serving on port %d", len(self.loops), self.port)

    def _poll_now(self) -> None:
        for job in self._scheduler.get_jobs() if self._scheduler else ():
            job.modify(next_run_time=datetime.now(UTC))

    def stop(self, grace: float = 10.0) -> bool:
        """Starts nothing new, and waits for running work for `grace` seconds at most. Returns whether all of it has
        ended. A collector does the rest again when its lease is over."""
        for loop in self.loops:
            loop.stop()
        self._stopped.set()
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=False)
        deadline = time.monotonic() + grace
        unfinished = [loop.job.name for loop in self.loops if not loop.wait(max(0.0, deadline - time.monotonic()))]
        for loop in self.loops:
            loop.abandon()
            try:
                loop.job.close()
            except LimesError as error:
                log.error("%s: %s", loop.job.name, error)
        if unfinished:
            log.warning("stopped in the middle of: %s", ", ".join(unfinished))
        self._running.close()
        log.info("collector stopped")
        return not unfinished


class Process(Protocol):
    """What runs until it is stopped."""

    def start(self) -> None: ...

    def stop(self, grace: float) -> bool:
        """Ends within this many seconds. Returns whether nothing was cut off."""
        ...


def run_until_signal(process: Process, grace: float = 10.0) -> None:
    """Starts it, and stops it on SIGTERM or SIGINT. Call it last, from the main thread: the signals stay handled, so
    that a second one does not cut off the end."""
    # A signal just before a thread begins to wait for a lock does not wake it, and another thread may get the signal.
    # But the byte that is written for it can always be read.
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    process.start()
    log.info("received %s", signal.Signals(reader.recv(1)[0]).name)
    process.stop(grace)


def claim_sqlite_file(engine: Engine) -> None:
    """Keeps other collectors off a SQLite file until this process ends. Does nothing on PostgreSQL. SQLite cannot skip
    rows that others have claimed, so two would block each other. Raises `StartupError` if another collector uses the
    file."""
    if engine.dialect != "sqlite":
        return
    path = Path(f"{engine.name}.collector-lock")
    try:
        file = path.open("w")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StartupError(
            f"another collector uses the {engine.location} already, and SQLite allows only one:"
            " stop that one, or use PostgreSQL for any number"
        ) from None
    except OSError as error:
        raise StartupError(f"{path}: cannot be locked: {error.strerror}") from None
    _held.append(file)


_FIRST = "discovery"
_MOST_ROUNDS = 20
"""Very short intervals must not keep it going for ever."""
_GRACE = 10.0


class TaskCounts(NamedTuple):
    task: str
    about: str
    """A service type or a capacitor; empty where it is about none."""
    succeeded: int
    failed: int


def run_once(collector: Collector, on_round: Callable[[], None] = lambda: None) -> list[TaskCounts]:
    """Does what is due, and what becomes due by doing it: new projects are scraped, drift is repaired. What fails is
    not tried again. `on_round` is called before each round through all jobs. The collector serves no metrics meanwhile,
    and cannot be started afterwards."""
    first = [loop for loop in collector.loops if loop.job.name == _FIRST]
    done: list[str] = []
    collector.listeners.append(lambda job, seconds: done.append(job))
    try:
        on_round()
        _drain(first)
        for _ in range(_MOST_ROUNDS):
            before = len(done)
            on_round()
            _drain(collector.loops)
            if len(done) == before:
                break
    finally:
        collector.stop(_GRACE)
    return outcomes(collector)


def _drain(loops: list[Loop]) -> None:
    if not loops:
        return
    with futures.ThreadPoolExecutor(len(loops)) as pool:
        try:
            for drained in [pool.submit(loop.drain) for loop in loops]:
                drained.result()
        except BaseException:  # Ctrl-C: what has started goes on without us
            for loop in loops:
                loop.abandon()
            raise


def outcomes(collector: Collector) -> list[TaskCounts]:
    """Returns what this collector has done so far, from its counters."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for family in collector.registry.collect():
        for sample in family.samples:
            outcome = sample.labels.get("task_outcome")
            if outcome is not None:
                about = sample.labels.get("service_type") or sample.labels.get("capacitor_id") or ""
                counts.setdefault((family.name.removeprefix("limes_"), about), {})[outcome] = int(sample.value)
    return [
        TaskCounts(task, about, by_outcome["success"], by_outcome["failure"])
        for (task, about), by_outcome in sorted(counts.items())
        if any(by_outcome.values())
    ]
