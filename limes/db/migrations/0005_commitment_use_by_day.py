"""Commitments' use is asked for, and forgotten, by the day: an index, so that this does not read all that is kept."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_WRITERS, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Creates the index."""
    db.execute_sql('CREATE INDEX "commitment_use_day" ON "commitment_use" ("day")')


STEPS = (Step(up, {"commitment_use": AGAINST_WRITERS}),)
