"""The databases of both halves with their migrations."""

from dataclasses import dataclass

from limes.composition.common import load_any_settings, open_engine, open_placement_engine
from limes.db.engine import Engine
from limes.db.migrate import Migrations, limes_migrations
from limes.placement.migrations import placement_migrations


@dataclass(frozen=True, slots=True)
class Database:
    """One half's tables."""

    engine: Engine
    migrations: Migrations


def all_databases() -> list[Database]:
    """Both halves' databases, which may be one; the Limes half's only if there is anything for it to do.

    Raises `Unavailable` if one does not answer.
    """
    settings = load_any_settings()
    databases = [Database(open_placement_engine(settings, "limes-db"), placement_migrations)]
    if not settings.for_placement_alone:
        databases.insert(0, Database(open_engine(settings, "limes-db"), limes_migrations))
    for database in databases:
        database.engine.ping()
    return databases
