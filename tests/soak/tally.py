"""What clients saw: how long each request took, and how it ended."""

import itertools
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import requests


@dataclass(frozen=True, slots=True)
class Sample:
    """A request. `at` is in seconds since the start, `took` in seconds; the status is 0 if there was no answer."""

    at: float
    took: float
    status: int

    @property
    def failed(self) -> bool:
        """Whether the client has to try again: it got no answer, or that of a server that cannot answer now."""
        return self.status == 0 or self.status >= 500


@dataclass
class Tally:
    """Samples by kind of request, and what must not happen."""

    began: float = field(default_factory=time.monotonic)
    samples: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    lost: list[str] = field(default_factory=list)
    """Acknowledged changes that are gone, and what nobody asked for."""
    surprises: list[str] = field(default_factory=list)
    """Answers that no client should ever see."""
    _local: threading.local = field(default_factory=threading.local)

    def ask(self, kind: str, call: Callable[[requests.Session], requests.Response]) -> requests.Response | None:
        """Makes a request on this thread's connection. Answers None if there was no answer."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
            self._local.session.trust_env = False
        began = time.monotonic()
        answer: requests.Response | None = None
        try:
            answer = call(self._local.session)
        except requests.RequestException:
            del self._local.session
        status = 0 if answer is None else answer.status_code
        self.samples[kind].append(Sample(began - self.began, time.monotonic() - began, status))
        if status in (401, 403, 500):
            self.surprises.append(f"{kind}: {status} {answer.text[:300] if answer is not None else ''}")
        return answer

    def print(self, seconds: float) -> None:
        """A line for each kind. The first and the last third of the time are shown beside each other."""
        print(
            f"{'':28}{'requests':>10}{'refused':>9}{'failed':>8}{'%':>7}{'p50 ms':>9}{'p99 ms':>9}{'p99 last third':>16}"
        )
        for kind, samples in sorted(self.samples.items()):
            refused = sum(400 <= each.status < 500 for each in samples)
            failed = sum(each.failed for each in samples)
            first = _percentile([each.took for each in samples if each.at < seconds / 3], 99)
            last = _percentile([each.took for each in samples if each.at >= seconds * 2 / 3], 99)
            print(
                f"{kind:28}{len(samples):10}{refused:9}{failed:8}{100 * failed / len(samples):7.2f}"
                f"{1000 * statistics.median(each.took for each in samples):9.1f}{first:9.1f}{last:16.1f}"
            )
        everything = list(itertools.chain.from_iterable(self.samples.values()))
        print(f"{len(everything) / seconds:.0f} requests a second")


def _percentile(values: list[float], which: int) -> float:
    """In milliseconds; 0 if there are too few values."""
    return 1000 * statistics.quantiles(values, n=100)[which - 1] if len(values) > 1 else 0.0
