"""The database's clock."""

import time
from collections.abc import Callable

from limes.db.engine import Engine


def ahead_of_database(engine: Engine, wall: Callable[[], float] = time.time) -> float:
    """How many seconds this machine's clock is ahead of PostgreSQL's, and negative if it is behind.

    What may be due to the time that the answer took is no difference. Raises `Unavailable`.
    """
    before = wall()
    ((there,),) = engine.rows("SELECT EXTRACT(EPOCH FROM clock_timestamp())::double precision")
    return max(before - float(there), min(0.0, wall() - float(there)))
