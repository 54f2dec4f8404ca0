"""Capacity that waits for another answer of its capacitor, and who computes the quota of a resource."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds two columns, which are null for all that there are. The previous release leaves them so: it lowers capacity
    at once. It notices who computes quota by the time when it is due."""
    db.execute_sql("ALTER TABLE resources ADD COLUMN capacity_drop_seen_at DOUBLE PRECISION")
    db.execute_sql("ALTER TABLE resources ADD COLUMN quota_claimed_until DOUBLE PRECISION")


STEPS = (Step(up, {"resources": AGAINST_ALL}),)
