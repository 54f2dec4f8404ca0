"""What people were told."""

from typing import Any

import peewee


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the tables; the previous release does not look at them."""
    db.execute_sql(
        "CREATE TABLE notification_states (kind TEXT NOT NULL, subject TEXT NOT NULL, level INTEGER NOT NULL,"
        " PRIMARY KEY (kind, subject))"
    )
    db.execute_sql("CREATE TABLE notification_cursor (id INTEGER NOT NULL PRIMARY KEY, last BIGINT)")
    db.execute_sql("INSERT INTO notification_cursor (id) VALUES (1)")
