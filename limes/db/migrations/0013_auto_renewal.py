"""Which commitments are renewed without a request, and why that failed."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_ALL, AGAINST_WRITERS, Step


def add_columns(migrator: Any, db: peewee.Database) -> None:
    """The previous release leaves them as they are."""
    db.execute_sql("ALTER TABLE project_commitments ADD COLUMN auto_renews BOOLEAN NOT NULL DEFAULT FALSE")
    db.execute_sql("ALTER TABLE project_commitments ADD COLUMN renewal_error TEXT NOT NULL DEFAULT ''")


def add_index(migrator: Any, db: peewee.Database) -> None:
    """It is empty at first."""
    db.execute_sql("CREATE INDEX project_commitments_renewing ON project_commitments (expires_at) WHERE auto_renews")


STEPS = (
    Step(add_columns, {"project_commitments": AGAINST_ALL}),
    Step(add_index, {"project_commitments": AGAINST_WRITERS}),
)
