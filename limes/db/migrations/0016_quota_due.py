"""When quota that follows usage has to be computed.

A file of its own: a transaction that locks two tables against readers could meet one that reads them in another order,
and PostgreSQL would end one of the two.
"""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the column; the previous release leaves it as it is."""
    db.execute_sql("ALTER TABLE resources ADD COLUMN quota_due_at DOUBLE PRECISION")


STEPS = (Step(up, {"resources": AGAINST_ALL}),)
