"""`limes serve --fresh`: deletes the data of a sample cloud, so that the next start makes new ones."""

from pathlib import Path

from limes.db.address import parse_database_url
from limes.errors import StartupError
from limes.settings import Settings

_SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")


def require_deletable(settings: Settings) -> None:
    """Raises `StartupError` for data that may be of use: those of real users, and those on a server."""
    if settings.identity.method != "sample":
        raise StartupError(
            "--fresh deletes all data, so it is only for sample clouds (identity.method: sample);"
            f" identity.method is {settings.identity.method!r}"
        )
    _database_files(settings)


def delete_data(settings: Settings) -> list[Path]:
    """Deletes the SQLite files, and what `static` backends have stored. Returns what was deleted.

    Raises `StartupError` for what `require_deletable` protects.
    """
    require_deletable(settings)
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
