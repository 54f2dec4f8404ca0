"""For how long quota is asked for."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the columns; the previous release leaves them empty."""
    db.execute_sql("ALTER TABLE quota_requests ADD COLUMN starts_at DOUBLE PRECISION")
    db.execute_sql("ALTER TABLE quota_requests ADD COLUMN until DOUBLE PRECISION")


STEPS = (Step(up, {"quota_requests": AGAINST_ALL}),)
