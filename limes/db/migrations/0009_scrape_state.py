"""What backends want to be told again with the next scrape of a project."""

from typing import Any

import peewee


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the column; the previous release leaves it as it is."""
    db.execute_sql("ALTER TABLE project_services ADD COLUMN scrape_state TEXT NOT NULL DEFAULT ''")
