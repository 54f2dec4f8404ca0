"""What the account of usage has to know of itself: when days were closed, and by which rules."""

from typing import Any

import peewee
from peewee import BigIntegerField

from limes.db.steps import AGAINST_ALL, Step


def keep_closing_times(migrator: Any, db: peewee.Database) -> None:
    """Adds a table, with what is known of the last day that was closed."""

    class ClosedDay(peewee.Model):
        begins = BigIntegerField(primary_key=True)
        closed_at = BigIntegerField()

        class Meta:
            database = db
            table_name = "closed_days"

    db.create_tables([ClosedDay])
    db.execute_sql(
        "INSERT INTO closed_days SELECT closed_until - 86400, closed_at FROM metering_state"
        " WHERE closed_until > begun_at"
    )


def add_columns(migrator: Any, db: peewee.Database) -> None:
    """The previous release leaves them as they are, so what it does is noticed afterwards."""
    db.execute_sql("ALTER TABLE metering_state ADD COLUMN checked_until BIGINT")
    db.execute_sql("ALTER TABLE metering_state ADD COLUMN checked_project TEXT")
    db.execute_sql("ALTER TABLE project_services ADD COLUMN metered_at DOUBLE PRECISION")


STEPS = (
    Step(keep_closing_times),
    Step(add_columns, {"project_services": AGAINST_ALL, "metering_state": AGAINST_ALL}),
)
