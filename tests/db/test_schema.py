"""The models and the migrations describe the same tables."""

from typing import Any

from playhouse.schema_diff import diff_models

from limes.app import models
from limes.db.base import BaseModel, bind
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.placement import models as placement_models
from limes.placement.migrations import placement_migrations
from tests.support.databases import ON_POSTGRESQL, MigratedUrlFactory, UrlFactory

_DEFINITIONS = """
    SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT conrelid::regclass::text, '', pg_get_constraintdef(oid), '' FROM pg_constraint WHERE contype <> 'n'
    UNION ALL SELECT tablename, '', indexdef, '' FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2, 3
"""


def _difference(url: str, migrated: tuple[type[BaseModel], ...]) -> Any:
    engine = Engine(url)
    bind(engine.db)
    with engine.connection():
        diff = diff_models(engine.db, list(migrated))
    engine.close()
    return diff


def test_the_migrations_make_what_the_models_describe(database_url_with: MigratedUrlFactory) -> None:
    assert not _difference(database_url_with(limes_migrations), models.MODELS)


@ON_POSTGRESQL
def test_types_and_constraints_are_those_of_the_models(
    database_url_with: MigratedUrlFactory, postgres_url_factory: UrlFactory
) -> None:
    """Defaults are the migrations' own: releases that do not know a column leave it out. SQLite is told the same."""

    def definitions(url: str, made: tuple[type[BaseModel], ...]) -> list[tuple[str, ...]]:
        engine = Engine(url)
        bind(engine.db)
        with engine.connection():
            engine.db.create_tables(made)
        rows = [row for row in engine.rows(_DEFINITIONS) if "schema_migrations" not in row[0]]
        engine.close()
        return rows

    expected = definitions(postgres_url_factory(), (*models.MODELS, *models.ON_POSTGRESQL))
    assert definitions(database_url_with(limes_migrations), ()) == expected


def test_the_migrations_of_placement_make_what_its_models_describe(database_url_with: MigratedUrlFactory) -> None:
    url = database_url_with(placement_migrations)
    expected = placement_models.SQLITE_MODELS if url.startswith("sqlite") else placement_models.MODELS
    difference = _difference(url, expected)
    if url.startswith("sqlite"):  # it gives the index of a UNIQUE column no name; PostgreSQL shows that they are there
        difference.add_indexes[:] = [index for index in difference.add_indexes if not index.unique]
    assert not difference, difference
