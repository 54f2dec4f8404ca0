"""The database's clock."""

import time
from collections.abc import Callable

import peewee
from peewee import fn

from limes.db.engine import Engine
from limes.db.query import Node, value


@value(float)
def _now() -> Node:
    return peewee.Select(columns=[fn.DATE_PART("epoch", fn.CLOCK_TIMESTAMP())])


def ahead_of_database(engine: Engine, wall: Callable[[], float] = time.time) -> float:
    """How many seconds this machine's clock is ahead of PostgreSQL's; negative if it is behind.

    Does not count what the time that the answer took may explain. Raises `Unavailable`.
    """
    before = wall()
    theirs = _now(engine)
    return max(before - theirs, min(0.0, wall() - theirs))
