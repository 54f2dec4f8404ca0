"""Cluster-wide jobs of the collectors: when they are due, and who has claimed them."""

from typing import Any

import peewee
from peewee import DoubleField, TextField


def up(migrator: Any, db: peewee.Database) -> None:
    """Creates the table."""

    class Job(peewee.Model):
        name = TextField(primary_key=True)
        next_run_at = DoubleField()
        ran_at = DoubleField(null=True)
        error = TextField(default="")

        class Meta:
            database = db
            table_name = "jobs"

    db.create_tables([Job])
