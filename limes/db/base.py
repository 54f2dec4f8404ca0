"""What all models share, and the database that they use."""

from typing import Any

import peewee

database = peewee.DatabaseProxy()
"""Which database the models use; `bind()` sets it. Fixed SQL does not need it."""


def bind(db: Any) -> None:
    """Makes the models use this peewee database."""
    database.initialize(db)


class BaseModel(peewee.Model):
    """What all tables share."""

    class Meta:
        database = database
        legacy_table_names = False
