"""How the tests of one YAML file ended."""

import unittest
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["pass", "fail", "skip"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test of the suite."""

    file: str
    name: str
    status: Status
    message: str = ""


class Result(unittest.TestResult):
    """Keeps, for each test, how it ended and what it said. Of two reports of one test the worse one stays."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: dict[int, tuple[Status, str]] = {}

    def _keep(self, test: unittest.TestCase, status: Status, why: Any = "") -> None:
        if self.ended.get(id(test), ("pass", ""))[0] != "pass":
            return
        if isinstance(why, tuple):
            kind, error, _ = why
            why = str(error) if issubclass(kind, AssertionError) else f"{kind.__name__}: {error}"
        self.ended[id(test)] = (status, first_line(str(why)))

    def addSuccess(self, test: unittest.TestCase) -> None:
        self._keep(test, "pass")

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        self._keep(test, "fail", err)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        self._keep(test, "fail", err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self._keep(test, "skip", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        self._keep(test, "pass")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self._keep(test, "fail", "marked xfail upstream, but it succeeded")


def first_line(text: str) -> str:
    """The first line that has something in it, at most 300 characters of it."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= 300 else line[:297] + "..."
