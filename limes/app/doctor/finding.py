"""The context that checks work in, and their findings."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from limes.app.settings import Settings
from limes.kernel.system import Clock, SystemClock

_NOTICEABLE = 2.0
"""Seconds."""
_MEND = "have NTP (chrony, systemd-timesyncd) set the clocks of all machines; timedatectl shows this one's"


class Level(Enum):
    """How bad it is, from the best to the worst."""

    OK = "ok"
    SKIPPED = "skipped"
    """Could not be checked, because something else is wrong or not configured."""
    WARNING = "warning"
    """Works today, but will cause trouble one day."""
    PROBLEM = "problem"
    """Something does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for one thing. `mend` says how to fix it, and is empty if there is nothing to do."""

    check: str
    """What was checked, for programs: `database.schema`."""
    level: Level
    message: str
    mend: str = ""


def ok(check: str, message: str) -> Finding:
    return Finding(check, Level.OK, message)


def skipped(check: str, message: str) -> Finding:
    return Finding(check, Level.SKIPPED, message)


def warning(check: str, message: str, mend: str) -> Finding:
    return Finding(check, Level.WARNING, message, mend)


def problem(check: str, message: str, mend: str) -> Finding:
    return Finding(check, Level.PROBLEM, message, mend)


@dataclass(frozen=True, slots=True)
class Context:
    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    timeout: float = 15.0
    """Seconds that each backend, Keystone, and the broker may take."""
    project: str | None = None
    """The UUID of the project that backends are asked about. None: the first that discovery finds."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def now(self) -> float:
        """Returns seconds since the epoch, by this machine's clock."""
        return self.clock.now().timestamp()


def compare_clocks(check: str, ahead: float, server: str, tolerance: float) -> Finding:
    """Judges how many seconds our clock is `ahead` of another one. Beyond `tolerance`, collectors stop."""
    text = f"this machine's clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} {server}"
    if abs(ahead) > tolerance:
        beyond = f"Beyond {tolerance:g} s (collector.max_clock_skew) collectors do not work"
        return problem(check, text, f"{_MEND}. {beyond}")
    if abs(ahead) > _NOTICEABLE:
        return warning(check, text, _MEND)
    return ok(check, f"this machine's clock agrees with {server}")


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 service`, `2 services`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
