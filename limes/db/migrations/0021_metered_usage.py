"""Which usage the account of usage over time knows."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds a column. The previous release leaves it as it is, so what that release writes is noticed afterwards."""
    db.execute_sql("ALTER TABLE project_az_resources ADD COLUMN metered_usage BIGINT")


STEPS = (Step(up, {"project_az_resources": AGAINST_ALL}),)
