"""Own thresholds, what people have seen of their inbox, and webhooks of projects."""

from typing import Any

import peewee

from limes.db.migrate import AGAINST_CHANGES, AGAINST_WRITERS, Step


def make_tables(migrator: Any, db: peewee.Database) -> None:
    db.execute_sql(
        "CREATE TABLE own_thresholds ("
        "user_id TEXT NOT NULL, project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,"
        " percent INTEGER NOT NULL CHECK (percent BETWEEN 1 AND 100), PRIMARY KEY (user_id, project_id))"
    )
    db.execute_sql("CREATE INDEX own_thresholds_project_id ON own_thresholds (project_id)")
    db.execute_sql("CREATE TABLE inbox_seen (user_id TEXT NOT NULL PRIMARY KEY, seen_at DOUBLE PRECISION NOT NULL)")
    db.execute_sql(
        "CREATE TABLE project_webhooks ("
        "project_id INTEGER NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,"
        " url TEXT NOT NULL, secret TEXT NOT NULL, set_at DOUBLE PRECISION NOT NULL,"
        " author_id TEXT NOT NULL, author_name TEXT NOT NULL,"
        " delivered_at DOUBLE PRECISION, failed_at DOUBLE PRECISION, error TEXT NOT NULL)"
    )


def index_requesters(migrator: Any, db: peewee.Database) -> None:
    db.execute_sql("CREATE INDEX quota_requests_requester_id ON quota_requests (requester_id)")


STEPS = (Step(make_tables, {"projects": AGAINST_CHANGES}), Step(index_requesters, {"quota_requests": AGAINST_WRITERS}))
