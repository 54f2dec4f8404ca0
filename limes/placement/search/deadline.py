"""When a search has to end. There is no clock here: whoever starts a search tells whether its time is over."""

from collections.abc import Callable


class DeadlinePassed(Exception):
    """Ends a search from within. It does not leave `limes.placement.search.candidates`."""


class Deadline:
    """The end of one search."""

    __slots__ = ("_passed",)

    def __init__(self, passed: Callable[[], bool] = lambda: False) -> None:
        self._passed = passed

    def check(self) -> None:
        """Raises `DeadlinePassed` if it is time to stop."""
        if self._passed():
            raise DeadlinePassed
