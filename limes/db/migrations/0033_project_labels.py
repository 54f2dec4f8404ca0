"""Labels of projects."""

from typing import Any

import peewee

from limes.db.migrate import AGAINST_CHANGES, Step


def make_labels(migrator: Any, db: peewee.Database) -> None:
    db.execute_sql(
        "CREATE TABLE project_labels ("
        "project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,"
        " key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (project_id, key))"
    )


STEPS = (Step(make_labels, {"projects": AGAINST_CHANGES}),)
