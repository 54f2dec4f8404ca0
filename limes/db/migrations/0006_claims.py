"""Claims of pushes by a time of their own, and how many scrapes failed in a row."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the columns; the previous release leaves them as they are."""
    db.execute_sql("ALTER TABLE project_services ADD COLUMN scrape_failures INTEGER NOT NULL DEFAULT 0")
    db.execute_sql("ALTER TABLE project_services ADD COLUMN push_claimed_until DOUBLE PRECISION")


STEPS = (Step(up, {"project_services": AGAINST_ALL}),)
