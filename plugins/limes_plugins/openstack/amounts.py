"""Numbers that services answer: checked, never guessed."""

from typing import Any

from limes.backends import UNLIMITED, BackendError, BackendQuota, limited


def whole_number(value: Any, what: str) -> int:
    """The value, if it is a whole number from 0. Raises `BackendError`."""
    if type(value) is not int or value < 0:
        raise BackendError(f"{what} is {value!r}, expected a whole number from 0")
    return value


def quota_of(value: Any, what: str) -> BackendQuota:
    """A quota as OpenStack services write it: -1 means unlimited, and so does what no resource can have that much of.

    Raises `BackendError` for anything else that is no whole number.
    """
    if value == -1 and type(value) is int:
        return UNLIMITED
    return limited(whole_number(value, what))
