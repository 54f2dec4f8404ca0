"""What `limes serve` sees to before it starts a process; with `--fresh`, it deletes the data of a sample cloud."""

from pathlib import Path
from urllib.parse import unquote

from limes.composition.checks import require
from limes.composition.common import all_databases, load_settings
from limes.db.connections import parse_database_url
from limes.errors import StartupError
from limes.settings import Settings
from limes.urls import split_url
from limes.web.server import require_free

_SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")


def prepare(*, fresh: bool = False) -> tuple[Settings, Path]:
    """Returns the settings, and the folder for logs. `fresh` deletes the data of earlier starts.

    Raises `LimesError` with what is in the way.
    """
    settings = load_settings()
    if fresh:
        _require_deletable(settings)
    for process in ("api", "placement"):
        require(settings, process, ["exposure", "policy", "backends"])
    for name, listen in (
        ("placement.listen", settings.placement.listen),
        ("api.listen", settings.api.listen),
        ("collector.listen", settings.collector.listen),
    ):
        require_free(name, listen)
    folder = _data_folder(settings)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartupError(f"database.url: cannot make the folder {folder}: {error.strerror}") from None
    if fresh:
        for path in _delete_data(settings):
            print(f"Deleted {path}")
    for process in ("api", "placement"):
        require(settings, process, ["identity"])
    for database in all_databases():
        database.migrations.upgrade(database.engine)
        database.engine.close()
    return settings, folder


def _data_folder(settings: Settings) -> Path:
    """Returns the folder of the SQLite file, or the present one."""
    parts = split_url(settings.database.url)
    return Path(unquote(parts.path)[1:]).parent if parts.scheme == "sqlite" else Path()


def _require_deletable(settings: Settings) -> None:
    """Raises `StartupError` for data that may be of use: those of real users, and those on a server."""
    if settings.identity.method != "sample":
        raise StartupError(
            "--fresh deletes all data, so it is only for sample clouds (identity.method: sample);"
            f" identity.method is {settings.identity.method!r}"
        )
    _database_files(settings)


def _delete_data(settings: Settings) -> list[Path]:
    """Deletes the SQLite files, and what `static` backends have stored. Returns what was deleted."""
    deleted = [path for path in [*_database_files(settings), *_state_files(settings)] if path.is_file()]
    for path in deleted:
        try:
            path.unlink()
        except OSError as error:
            raise StartupError(f"--fresh: cannot delete {path}: {error.strerror}") from None
    return deleted


def _database_files(settings: Settings) -> list[Path]:
    files = []
    for url in (settings.database.url, settings.placement.database_url):
        if url is None:
            continue
        address = parse_database_url(url)
        if address.dialect != "sqlite":
            raise StartupError(
                f"--fresh deletes SQLite files only, not the {address.location}: drop and create it yourself"
            )
        files += [Path(f"{address.name}{suffix}") for suffix in _SQLITE_SUFFIXES]
    return files


def _state_files(settings: Settings) -> list[Path]:
    """Returns where backends of the type `static` keep the quotas that they were given."""
    return [
        Path(service.params["state_file"])
        for service in settings.services
        if service.type == "static" and isinstance(service.params.get("state_file"), str)
    ]
