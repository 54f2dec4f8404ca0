"""Recipients of mails are found whatever case their addresses are written in."""

from typing import Any

import peewee

from limes.db.steps import AGAINST_WRITERS, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds an index; the previous release does not look at it."""
    db.execute_sql("CREATE INDEX mails_spelling ON mails (sink, lower(recipient), made_at)")


STEPS = (Step(up, {"mails": AGAINST_WRITERS}),)
