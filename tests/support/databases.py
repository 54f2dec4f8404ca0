"""Fresh databases for tests: empty ones, and copies of ready migrated ones."""

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from limes.db.engine import Engine
from limes.db.migrate import Migrations
from tests.support.postgres import PostgresServer
from tests.support.template import Copy, Template

LOCK_WAITS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
"""Has a row for each connection to this database that waits for a lock; to be read outside of transactions. `pg_locks`
has those of other tests as well, whose databases are on the same server."""

ON_POSTGRESQL = pytest.mark.parametrize(
    "databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)
"""For tests that make no sense on SQLite."""


class Databases(Protocol):
    """Where one test gets its databases from. All of them are gone after the test."""

    def empty(self) -> str:
        """The URL of a new empty database."""
        ...

    def migrated(self, *migrations: Migrations) -> str:
        """The URL of a database with these migrations applied, and nothing else. Cheap: they run once a session."""
        ...

    def drop_all(self) -> None:
        """Drops what was given out."""
        ...


class SQLiteDatabases:
    """Files in the test's own folder; migrated templates are files in the session's folder."""

    def __init__(self, folder: Path, templates: Path) -> None:
        self._folder = folder
        self._templates = templates
        self._numbers = itertools.count(1)

    def empty(self) -> str:
        return f"sqlite:///{self._new_file()}"

    def migrated(self, *migrations: Migrations) -> str:
        template = self._templates / f"{_key(migrations)}.db"
        if not template.exists():
            unfinished = template.with_suffix(".unfinished")
            unfinished.unlink(missing_ok=True)
            _upgrade(f"sqlite:///{unfinished}", migrations)
            unfinished.rename(template)
        return f"sqlite:///{shutil.copyfile(template, self._new_file())}"

    def drop_all(self) -> None:
        for file in self._folder.glob("limes-*.db*"):
            file.unlink(missing_ok=True)

    def _new_file(self) -> Path:
        return self._folder / f"limes-{next(self._numbers)}.db"


class PostgresDatabases:
    """Databases on the session's server; `templates` has what can be copied or used again, for the whole session."""

    def __init__(self, server: PostgresServer, templates: dict[str, Template]) -> None:
        self._server = server
        self._templates = templates
        self._empty: list[str] = []
        self._copies: list[tuple[Template, Copy]] = []

    def empty(self) -> str:
        self._empty.append(self._server.create_database())
        return self._server.url(self._empty[-1])

    def migrated(self, *migrations: Migrations) -> str:
        key = _key(migrations)
        if key not in self._templates:
            name = self._server.create_database()
            _upgrade(self._server.own_url(name), migrations)  # a pooler's connections would keep it from being copied
            self._templates[key] = Template(self._server, name)
        copy = self._templates[key].take()
        self._copies.append((self._templates[key], copy))
        return self._server.url(copy.name)

    def drop_all(self) -> None:
        while self._empty:
            self._server.drop_database(self._empty.pop())
        while self._copies:
            template, copy = self._copies.pop()
            template.give_back(copy)


def _key(migrations: tuple[Migrations, ...]) -> str:
    return "-".join(one.history_table for one in migrations)


def _upgrade(url: str, migrations: tuple[Migrations, ...]) -> None:
    engine = Engine(url)
    try:
        for one in migrations:
            one.upgrade(engine)
        if engine.dialect == "sqlite":
            with engine.connection():  # all into the main file, which is what gets copied
                engine.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        engine.close()


UrlFactory = Callable[[], str]
MigratedUrlFactory = Callable[..., str]
