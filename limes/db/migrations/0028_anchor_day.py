"""The day of the month that renewals count their months to, where their first month is too short for it."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the column, which is null for all that there are. The previous release leaves it so."""
    db.execute_sql("ALTER TABLE project_commitments ADD COLUMN anchor_day INTEGER")


STEPS = (Step(up, {"project_commitments": AGAINST_ALL}),)
