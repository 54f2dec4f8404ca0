"""The database's clock."""

import time
from collections.abc import Callable

import peewee
from peewee import fn

from limes.db.compiled import compiled
from limes.db.engine import Engine

_NOW = compiled(lambda p: peewee.Select(columns=[fn.DATE_PART("epoch", fn.CLOCK_TIMESTAMP())]))


def ahead_of_database(engine: Engine, wall: Callable[[], float] = time.time) -> float:
    """Returns how many seconds this machine's clock is ahead of PostgreSQL's, and negative if it is behind.

    Does not count what the time that the answer took may explain. Raises `Unavailable`.
    """
    before = wall()
    theirs: float = engine.column(_NOW)[0]
    return max(before - theirs, min(0.0, wall() - theirs))
