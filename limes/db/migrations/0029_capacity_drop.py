"""When a capacitor reported much less of a resource than before, for capacity that waits for its next answer."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the column, which is null for all that there are. The previous release leaves it so, and lowers at once."""
    db.execute_sql("ALTER TABLE resources ADD COLUMN capacity_drop_seen_at DOUBLE PRECISION")


STEPS = (Step(up, {"resources": AGAINST_ALL}),)
