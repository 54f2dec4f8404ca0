"""What checks work with, and what they find, one thing at a time."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from limes.settings import Settings
from limes.system import Clock, SystemClock

_NOTICEABLE = 2.0
"""Seconds."""
_MEND = "have NTP (chrony, systemd-timesyncd) set the clocks of all machines; timedatectl shows this one's"


class Level(Enum):
    """How bad it is, from the best to the worst."""

    OK = "ok"
    SKIPPED = "skipped"
    """Could not be looked at, because of something else that is wrong or that is not configured."""
    WARNING = "warning"
    """Works today, and is going to hurt one day."""
    PROBLEM = "problem"
    """Something does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `mend` is empty if there is nothing to do."""

    check: str
    """What was looked at, for programs: `database.schema`."""
    level: Level
    message: str
    mend: str = ""


def ok(check: str, message: str) -> Finding:
    """All is well."""
    return Finding(check, Level.OK, message)


def skipped(check: str, message: str) -> Finding:
    """Nobody can tell."""
    return Finding(check, Level.SKIPPED, message)


def warning(check: str, message: str, mend: str) -> Finding:
    """Better to be mended."""
    return Finding(check, Level.WARNING, message, mend)


def problem(check: str, message: str, mend: str) -> Finding:
    """Has to be mended."""
    return Finding(check, Level.PROBLEM, message, mend)


@dataclass(frozen=True, slots=True)
class Context:
    """One examination."""

    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    timeout: float = 15.0
    """Seconds that each backend, Keystone, and the broker may take."""
    project: str | None = None
    """The UUID of the project that backends are asked about. None: the first that discovery finds."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def now(self) -> float:
        """Seconds since the epoch, by this machine's clock."""
        return self.clock.now().timestamp()


def compare_clocks(check: str, ahead: float, whose: str, most: float) -> Finding:
    """The verdict on a clock that ours is `ahead` of (seconds); `most` is where work stops."""
    text = f"this machine's clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} {whose}"
    if abs(ahead) > most:
        return problem(check, text, f"{_MEND}. Beyond {most:g} s (collector.max_clock_skew) collectors do not work")
    if abs(ahead) > _NOTICEABLE:
        return warning(check, text, _MEND)
    return ok(check, f"this machine's clock agrees with {whose}")
