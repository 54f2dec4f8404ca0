"""Since when the scrapes of a project's service fail, and since when a service is missing from the configuration.

The previous release leaves the columns as they are.
"""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def add_vanished_at(migrator: Any, db: peewee.Database) -> None:
    """Adds the column to services."""
    db.execute_sql("ALTER TABLE services ADD COLUMN vanished_at DOUBLE PRECISION")


def add_failing_since(migrator: Any, db: peewee.Database) -> None:
    """Adds the column to services of projects."""
    db.execute_sql("ALTER TABLE project_services ADD COLUMN failing_since DOUBLE PRECISION")


STEPS = (Step(add_vanished_at, {"services": AGAINST_ALL}), Step(add_failing_since, {"project_services": AGAINST_ALL}))
