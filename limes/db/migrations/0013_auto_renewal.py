"""Which commitments are renewed without a request, and why that failed."""

from typing import Any

import peewee


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds the columns; the previous release leaves them as they are."""
    db.execute_sql("ALTER TABLE project_commitments ADD COLUMN auto_renews BOOLEAN NOT NULL DEFAULT FALSE")
    db.execute_sql("ALTER TABLE project_commitments ADD COLUMN renewal_error TEXT NOT NULL DEFAULT ''")
    db.execute_sql("CREATE INDEX project_commitments_renewing ON project_commitments (expires_at) WHERE auto_renews")
