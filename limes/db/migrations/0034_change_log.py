"""One change log: who changed commitments, and indexes for reading all changes by time."""

from functools import partial
from typing import Any

import peewee

from limes.db.migrate import AGAINST_ALL, AGAINST_WRITERS, Step

_WHO = ("initiator_id", "initiator_name", "request_id")


def name_initiators(migrator: Any, db: peewee.Database) -> None:
    """Empty for what was changed before, or is changed by a process of the release before."""
    for column in _WHO:
        db.execute_sql(f"ALTER TABLE commitment_events ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")


def _index(sql: str, migrator: Any, db: peewee.Database) -> None:
    db.execute_sql(f"CREATE INDEX {sql}")


INDEXES = {
    "commitment_events_at_number": "commitment_events (at, number)",
    "quota_history_at_number": "quota_history (at, number)",
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
    Step(name_initiators, {"commitment_events": AGAINST_ALL}),
    *(
        Step(partial(_index, f"{name} ON {columns}"), {columns.partition(" ")[0]: AGAINST_WRITERS})
        for name, columns in INDEXES.items()
    ),
)
