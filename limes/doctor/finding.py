"""What the doctor has found, one thing at a time."""

from dataclasses import dataclass
from enum import Enum


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
