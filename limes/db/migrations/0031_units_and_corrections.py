"""In which units amounts were told, and which corrections were made by the present rules."""

from typing import Any

import peewee
from peewee import BigIntegerField, CompositeKey, TextField

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds a table and a column. The previous release knows neither, so its corrections are noticed afterwards."""

    class MeteredUnit(peewee.Model):
        service_type = TextField()
        resource_name = TextField()
        since = BigIntegerField()
        unit = TextField()

        class Meta:
            database = db
            table_name = "metered_units"
            primary_key = CompositeKey("service_type", "resource_name", "since")

    db.create_tables([MeteredUnit])
    db.execute_sql("ALTER TABLE metering_state ADD COLUMN checked_correction BIGINT NOT NULL DEFAULT 0")


STEPS = (Step(up, {"metering_state": AGAINST_ALL}),)
