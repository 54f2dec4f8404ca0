"""When a backend was found to enforce another quota than it was told, and when it was told last."""

from typing import Any

import peewee
from peewee import DoubleField

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the columns."""
    migrator.migrate(
        migrator.add_column("project_services", "drifted_at", DoubleField(null=True)),
        migrator.add_column("project_services", "pushed_at", DoubleField(null=True)),
    )


STEPS = (Step(up, {"project_services": AGAINST_ALL}),)
