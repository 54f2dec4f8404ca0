"""Which gaps of usage no closed day has counted: all that may be about a closed day are compared once more."""

from typing import Any

import peewee

_PENDING = 2**62


def up(migrator: Any, db: peewee.Database) -> None:
    """Marks them. To the previous release, they were recorded just now."""
    # what was before the account began is in all of it
    db.execute_sql("UPDATE usage_gaps SET recorded_at = begins WHERE begins = 0")
    db.execute_sql(f"UPDATE usage_gaps SET recorded_at = {_PENDING} WHERE recorded_at > begins")
