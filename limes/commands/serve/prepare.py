"""What `limes serve` sees to before it starts a process."""

from pathlib import Path
from urllib.parse import unquote

from limes.commands.serve.fresh import delete_data, require_deletable
from limes.composition.checks import require
from limes.composition.common import all_databases, load_settings
from limes.errors import StartupError
from limes.settings import Settings
from limes.urls import split_url
from limes.web.listening import require_free


def prepare(*, fresh: bool = False) -> tuple[Settings, Path]:
    """Returns the settings, and the folder for logs. `fresh` deletes the data of earlier starts.

    Raises `LimesError` with what is in the way.
    """
    settings = load_settings()
    if fresh:
        require_deletable(settings)
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
        for path in delete_data(settings):
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
