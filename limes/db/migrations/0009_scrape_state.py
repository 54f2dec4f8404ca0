"""What backends want to be told again with the next scrape of a project."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the column; the previous release leaves it as it is."""
    db.execute_sql("ALTER TABLE project_services ADD COLUMN scrape_state TEXT NOT NULL DEFAULT ''")


STEPS = (Step(up, {"project_services": AGAINST_ALL}),)
