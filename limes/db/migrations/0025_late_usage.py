"""Which steps and gaps of usage no closed day has counted.

In the order in which scrapes write these tables, so that nobody waits for each other. Readers go on.
"""

from typing import Any

import peewee


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds two indexes. To the previous release, a row that was counted is one that was recorded long ago."""
    db.execute_sql("CREATE INDEX usage_steps_pending ON usage_steps (at) WHERE recorded_at > at")
    db.execute_sql("CREATE INDEX usage_gaps_pending ON usage_gaps (begins) WHERE recorded_at > begins")
    # what was before the account began is in all of it
    db.execute_sql("UPDATE usage_gaps SET recorded_at = begins WHERE begins = 0")
