"""The base class of all models, and the database that they use."""

from typing import Any

import peewee

database = peewee.DatabaseProxy()
"""The database of the models. `bind()` sets it. Queries that an engine runs do not need it."""


def bind(db: Any) -> None:
    database.initialize(db)


class BaseModel(peewee.Model):
    class Meta:
        database = database
        legacy_table_names = False
