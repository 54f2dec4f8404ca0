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
        """The URL of a new database with these migrations applied. Cheap: they run once a session."""
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
    """Databases on the session's server; `templates` remembers those that can be copied, for the whole session."""

    def __init__(self, server: PostgresServer, templates: dict[str, str]) -> None:
        self._server = server
        self._templates = templates
        self._given_out: list[str] = []

    def empty(self) -> str:
        return self._give_out(self._server.create_database())

    def migrated(self, *migrations: Migrations) -> str:
        key = _key(migrations)
        if key not in self._templates:
            name = self._server.create_database()
            _upgrade(self._server.own_url(name), migrations)  # a pooler's connections would keep it from being copied
            self._templates[key] = name
        return self._give_out(self._server.create_database(self._templates[key]))

    def drop_all(self) -> None:
        while self._given_out:
            self._server.drop_database(self._given_out.pop())

    def _give_out(self, name: str) -> str:
        self._given_out.append(name)
        return self._server.url(name)


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
