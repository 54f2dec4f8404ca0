"""Rows as named tuples."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R", bound=NamedTuple)


def named(kind: type[R], rows: Iterable[tuple[Any, ...]]) -> Iterator[R]:
    """The rows of a SELECT of just the fields of `kind`: as `kind._make`, which takes twice as long and counts them."""
    return map(partial(tuple.__new__, kind), rows)
