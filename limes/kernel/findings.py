"""What `limes doctor` finds."""

from enum import Enum

from msgspec import Struct


class Level(Enum):
    """How bad it is, from the best to the worst."""

    OK = "ok"
    SKIPPED = "skipped"
    """Could not be checked, because something else is wrong or not configured."""
    WARNING = "warning"
    """Works today, but will cause trouble one day."""
    PROBLEM = "problem"
    """Something does not work."""


class Finding(Struct, frozen=True):
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


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 service`, `2 services`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
