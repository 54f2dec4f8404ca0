"""Recipients of mails are found whatever case their addresses are written in."""

from typing import Any

import peewee


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds an index; the previous release does not look at it."""
    db.execute_sql("CREATE INDEX mails_spelling ON mails (sink, lower(recipient), made_at)")
