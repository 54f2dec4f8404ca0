"""Does everything that is due once: to try Limes out, as a cron job, or to repair something by hand."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from limes.collector.loop import Loop
from limes.collector.runner import Collector

_FIRST = "discovery"
_MOST_ROUNDS = 20
"""Very short intervals must not keep it going for ever."""
_GRACE = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many tasks of one kind succeeded and failed."""

    task: str
    about: str
    """A service type or a capacitor; empty where it is about none."""
    succeeded: int
    failed: int


def run_once(collector: Collector, on_round: Callable[[], None] = lambda: None) -> list[Outcome]:
    """Does what is due, and what becomes due by doing it: new projects are scraped, drift is repaired.

    What fails is not tried again. `on_round` is called before each round through all jobs. The collector serves no
    metrics meanwhile, and cannot be started afterwards.
    """
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
    with ThreadPoolExecutor(len(loops)) as pool:
        try:
            for drained in [pool.submit(loop.drain) for loop in loops]:
                drained.result()
        except BaseException:  # Ctrl-C: what has begun goes on without us
            for loop in loops:
                loop.abandon()
            raise


def outcomes(collector: Collector) -> list[Outcome]:
    """Returns what this collector has done so far, from its counters."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for family in collector.registry.collect():
        for sample in family.samples:
            outcome = sample.labels.get("task_outcome")
            if outcome is not None:
                about = sample.labels.get("service_type") or sample.labels.get("capacitor_id") or ""
                counts.setdefault((family.name.removeprefix("limes_"), about), {})[outcome] = int(sample.value)
    return [
        Outcome(task, about, by_outcome["success"], by_outcome["failure"])
        for (task, about), by_outcome in sorted(counts.items())
        if any(by_outcome.values())
    ]
