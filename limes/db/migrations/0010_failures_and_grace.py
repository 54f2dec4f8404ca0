"""Since when the scrapes of a project's service fail, and since when a service is missing from the configuration."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the columns; the previous release leaves them as they are."""
    db.execute_sql("ALTER TABLE project_services ADD COLUMN failing_since DOUBLE PRECISION")
    db.execute_sql("ALTER TABLE services ADD COLUMN vanished_at DOUBLE PRECISION")


STEPS = (Step(up, {"services": AGAINST_ALL, "project_services": AGAINST_ALL}),)
