"""Which quotas backends accept of single projects."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the columns; the previous release leaves them as they are."""
    for column in ("min_backend_quota", "max_backend_quota"):
        db.execute_sql(f"ALTER TABLE project_resources ADD COLUMN {column} BIGINT")


STEPS = (Step(up, {"project_resources": AGAINST_ALL}),)
