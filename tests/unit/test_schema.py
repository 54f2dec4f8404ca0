"""The models and the migrations describe the same tables."""

from typing import Any

from playhouse.schema_diff import diff_models

from limes.db import models
from limes.db.base import BaseModel, bind
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.placement import models as placement_models
from limes.placement.migrations import placement_migrations
from tests.support.databases import MigratedUrlFactory


def _difference(url: str, migrated: tuple[type[BaseModel], ...]) -> Any:
    engine = Engine(url)
    bind(engine.db)
    with engine.connection():
        diff = diff_models(engine.db, list(migrated))
    engine.close()
    return diff


def test_the_migrations_make_what_the_models_describe(database_url_with: MigratedUrlFactory) -> None:
    assert not _difference(database_url_with(limes_migrations), models.MODELS)


def test_the_migrations_of_placement_make_what_its_models_describe(database_url_with: MigratedUrlFactory) -> None:
    url = database_url_with(placement_migrations)
    expected = placement_models.SQLITE_MODELS if url.startswith("sqlite") else placement_models.MODELS
    difference = _difference(url, expected)
    if url.startswith("sqlite"):  # it gives the index of a UNIQUE column no name; PostgreSQL shows that they are there
        difference.add_indexes[:] = [index for index in difference.add_indexes if not index.unique]
    assert not difference, difference
