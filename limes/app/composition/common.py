"""What every process needs first: settings, logs, and databases whose schema fits."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from limes.app.composition.cluster import backend_problems, problems_of_references
from limes.app.databases import open_engine, open_placement_engine
from limes.app.settings import Settings, load, read_yaml
from limes.app.settings.load import Salvage, salvage
from limes.db import advice, base, migrate
from limes.db.engine import Engine
from limes.kernel import logs
from limes.kernel.errors import ConfigError
from limes.placement.migrations import placement_migrations

DEFAULT_CONFIG = "/etc/limes/limes.yaml"
LOCAL_CONFIG = "limes.yaml"
"""In the current folder, where there is no `DEFAULT_CONFIG`: what `limes config init` writes."""


def find_config(environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the configuration file of this process, which may not exist: the one that `LIMES_CONFIG` names, or else
    the first of the usual places that has one."""
    named = environ.get("LIMES_CONFIG")
    if named:
        return Path(named)
    usual = (Path(DEFAULT_CONFIG), Path(LOCAL_CONFIG))
    return next((path for path in usual if path.is_file()), usual[0])


def load_settings() -> Settings:
    """Returns the settings of the file that `LIMES_CONFIG` names. Raises `ConfigError` with every problem. For what the
    Limes half does: a file that is for the Placement half alone is refused."""
    settings = load_any_settings()
    if settings.for_placement_alone:
        missing = "missing, so that only `limes placement` can work with this file"
        raise ConfigError([f"availability_zones: {missing}", f"services: {missing}"])
    return settings


def load_any_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """As `load_settings`, but the file may be for the Placement half alone."""
    path = find_config(environ)
    problem = None
    if path.is_dir():
        problem = f"{path}: this is a folder, not a configuration file"
    elif not path.is_file() and environ.get("LIMES_CONFIG"):
        problem = f"{path}: there is no such configuration file; `limes config init {path}` writes one to start from"
    elif not path.is_file():
        problem = (
            f"there is no configuration file: neither {path} nor {LOCAL_CONFIG} in this folder. Name yours with"
            " --config or LIMES_CONFIG, or write one with `limes config init`. `limes serve` runs a sample cloud"
            " without one"
        )
    if problem:
        raise ConfigError([problem])
    try:
        return load(path, environ)
    except ConfigError as error:
        raise ConfigError([*error.problems, *_more_problems(path, environ)]) from None


def salvage_settings(environ: Mapping[str, str] = os.environ) -> Salvage | None:
    """Returns what is valid in a file that is not valid as a whole, or None if nothing is."""
    path = find_config(environ)
    try:
        document = read_yaml(path)
    except ConfigError:
        return None
    return salvage(document, environ, path.parent) if isinstance(document, dict) else None


def _more_problems(path: Path, environ: Mapping[str, str]) -> list[str]:
    """Returns what is wrong beyond the keys themselves, in a file that cannot be used for other reasons already: so
    that an operator sees everything at once."""
    try:
        problems = backend_problems(read_yaml(path))
    except ConfigError:
        return []
    rest = salvage_settings(environ)
    if rest is not None:
        found = problems_of_references(rest.settings, rest.lost_services)
        problems += [problem for text in found if (problem := rest.with_real_places(text)) not in problems]
    return problems


def set_up_logs(settings: Settings) -> None:
    logs.set_up(settings.logging.style, settings.logging.level)


def open_checked_engine(settings: Settings, application_name: str) -> Engine:
    """Returns the engine for the Limes half's database, after checking the schema. Raises `StartupError` if it is
    behind, or the database unusable."""
    engine = open_engine(settings, application_name)
    advice.require_answer(engine)
    migrate.limes_migrations.check(engine)
    base.bind(engine.db)
    return engine


def open_checked_placement_engine(settings: Settings, application_name: str) -> Engine:
    """Returns the same for the Placement half."""
    engine = open_placement_engine(settings, application_name)
    advice.require_answer(engine)
    placement_migrations.check(engine)
    return engine


class Database(Struct, frozen=True):
    """One half's tables."""

    engine: Engine
    migrations: migrate.Migrations


def all_databases() -> list[Database]:
    """Returns both halves' databases, which may be one; the Limes half's only if there is anything for it to do. Raises
    `StartupError` if one cannot be used."""
    settings = load_any_settings()
    databases = [Database(open_placement_engine(settings, "limes-db"), placement_migrations)]
    if not settings.for_placement_alone:
        databases.insert(0, Database(open_engine(settings, "limes-db"), migrate.limes_migrations))
    for database in databases:
        advice.require_answer(database.engine)
    return databases
