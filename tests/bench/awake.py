"""Keeps the processors of this machine from sleeping while something is measured."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

_SPIN = """
import os
if hasattr(os, "SCHED_IDLE"):
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
else:
    os.nice(19)
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(100_000):
        pass
"""


@contextlib.contextmanager
def processors_awake() -> Iterator[None]:
    """Occupies each processor, for as long as the block lasts, with work that gives way to any other.

    A virtual processor with nothing to do is taken away by the host, and comes back up to two milliseconds after it is
    needed: longer than a small answer takes. Without this, a table of small answers shows mostly how busy the host is.
    """
    spinners = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
