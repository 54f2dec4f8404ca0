"""From the URL in the configuration to what the database drivers want to know."""

from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from limes.errors import StartupError
from limes.urls import hosts_of, split_url

Dialect = Literal["sqlite", "postgresql"]


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where a database is. `location` is for messages and has no password in it."""

    dialect: Dialect
    name: str
    """The file's path, or the name of the database on the server."""
    location: str
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    """libpq's parameters; empty for SQLite."""


def parse_database_url(url: str, setting: str = "database.url") -> DatabaseAddress:
    """Reads `sqlite:///relative/path`, `sqlite:////absolute/path` or `postgresql://user:pass@host:port/name?options`.

    Several hosts may be given, as for libpq: `postgresql://user@one:5432,two:5432/name`. Then the one that accepts
    writes is looked for (`target_session_attrs=read-write`, if the URL does not say otherwise).

    Raises `StartupError` with one line that names the `setting` that the URL comes from.
    """
    try:
        parts = split_url(url)
        hosts = [urlsplit(f"//{host}") for host in hosts_of(url)]
        ports = [host.port or 5432 for host in hosts]
    except ValueError:
        raise StartupError(f"{setting}: not a URL; its port has to be a number from 1 to 65535") from None
    if parts.scheme == "sqlite":
        path = unquote(parts.path)[1:]
        if not path or path == ":memory:":
            raise StartupError(f"{setting}: an in-memory SQLite database cannot be shared; give a file's path")
        if parts.netloc:
            raise StartupError(f"{setting}: expected sqlite:///relative/path or sqlite:////absolute/path")
        return DatabaseAddress("sqlite", path, f"SQLite file {path}")
    if parts.scheme not in ("postgresql", "postgres"):
        raise StartupError(
            f"{setting}: unknown scheme {parts.scheme!r}, expected sqlite:///path or postgresql://host/name"
        )
    from_url = {
        "host": ",".join(host.hostname or "" for host in hosts),
        "user": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
    }
    default: dict[str, Any] = {"port": ",".join(map(str, ports)) if len(ports) > 1 else ports[0]}
    if len(ports) > 1:
        default["target_session_attrs"] = "read-write"
    options = {**default, **dict(parse_qsl(parts.query)), **{key: value for key, value in from_url.items() if value}}
    name = str(options.pop("dbname", None) or unquote(parts.path)[1:] or "limes")
    shown_host = options.get("host", "the default socket")
    return DatabaseAddress("postgresql", name, f"PostgreSQL database {name} on {shown_host}", options)
