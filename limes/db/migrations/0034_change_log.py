"""One change log: who changed commitments, of which domain, and indexes for reading all changes by time."""

from functools import partial
from typing import Any

import peewee

from limes.db.migrate import AGAINST_ALL, AGAINST_WRITERS, Fill, Step

COLUMNS = ("initiator_id", "initiator_name", "request_id", "domain_uuid")
_BATCH = 2000


def add_columns(migrator: Any, db: peewee.Database) -> None:
    """Who has made a change is not known of what was changed before, or is changed by a process of the release before.
    The domain of the latter is filled in by the job `commitment-use`."""
    for column in COLUMNS:
        db.execute_sql(f"ALTER TABLE commitment_events ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")


def fill_domains(db: peewee.Database, after: int) -> int | None:
    numbers = f"SELECT number FROM commitment_events WHERE number > {after} ORDER BY number LIMIT {_BATCH}"
    ((last,),) = db.execute_sql(f"SELECT MAX(number) FROM ({numbers}) AS batch").fetchall()
    if last is None:
        return None
    is_postgresql = isinstance(db, peewee.PostgresqlDatabase)
    domain = "document::json ->> 'domain_id'" if is_postgresql else "json_extract(document, '$.domain_id')"
    db.execute_sql(
        f"UPDATE commitment_events SET domain_uuid = COALESCE({domain}, '')"
        f" WHERE number > {after} AND number <= {last} AND domain_uuid = ''"
    )
    return int(last)


def _index(sql: str, migrator: Any, db: peewee.Database) -> None:
    db.execute_sql(f"CREATE INDEX {sql}")


INDEXES = {
    "commitment_events_at_number": "commitment_events (at, number)",
    "quota_history_at_number": "quota_history (at, number)",
    "commitment_events_domain_uuid_at_number": "commitment_events (domain_uuid, at, number)",
    "commitment_events_user_id": "commitment_events (initiator_id) WHERE initiator_id <> ''",
    "commitment_events_user_name": "commitment_events (initiator_name) WHERE initiator_id <> ''",
    "quota_history_by_users": "quota_history (at, number) WHERE initiator_id <> ''",
    "quota_history_user_id": "quota_history (initiator_id) WHERE initiator_id <> ''",
    "quota_history_user_name": "quota_history (initiator_name) WHERE initiator_id <> ''",
    "quota_history_overrides": "quota_history (domain_uuid, project_uuid) WHERE what = 'override'",
    "quota_history_domain_uuid_at_number": "quota_history (domain_uuid, at, number)",
    "quota_history_domain_uuid_project_uuid_at_number": "quota_history (domain_uuid, project_uuid, at, number)",
    "quota_request_events_at_number": "quota_request_events (at, number)",
}

STEPS = (
    Step(add_columns, {"commitment_events": AGAINST_ALL}),
    Fill(fill_domains),
    *(
        Step(partial(_index, f"{name} ON {columns}"), {columns.partition(" ")[0]: AGAINST_WRITERS})
        for name, columns in INDEXES.items()
    ),
)
