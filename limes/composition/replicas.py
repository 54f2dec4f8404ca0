"""Standbys that answer reads: from the settings to the engine that uses them."""

from collections.abc import Iterator

from limes.db.connections import parse_database_url
from limes.db.engine import Engine
from limes.db.replicas import ReplicatedEngine
from limes.db.standbys import Standby
from limes.db.watch import WITH_STANDBY
from limes.errors import StartupError
from limes.settings import Settings, url_with_password
from limes.urls import hosts_of

_IMPATIENT = "connect_timeout=1&tcp_user_timeout=5000"
"""libpq's parameters for a server that another one can stand in for. Those of the URL have precedence."""


def read_urls(settings: Settings, *, of_placement: bool) -> tuple[str, tuple[str, ...]]:
    """Returns the setting that names the standbys of one half's database, and their URLs."""
    if of_placement and settings.placement.database_url:
        return "placement.read_urls", settings.placement.read_urls
    return "database.read_urls", settings.database.read_urls


def problems_of_read_urls(settings: Settings) -> Iterator[str]:
    """Yields what is wrong with the standbys of both halves, as far as the file tells."""
    yield from _problems("database.read_urls", settings.database.read_urls, "database.url", settings.database.url)
    own, urls = settings.placement.database_url, settings.placement.read_urls
    if urls and not own:
        yield "placement.read_urls: needs placement.database_url; the standbys of database.url are database.read_urls"
    elif own:
        yield from _problems("placement.read_urls", urls, "placement.database_url", own)


def _problems(setting: str, urls: tuple[str, ...], primary_setting: str, primary: str) -> Iterator[str]:
    if urls and primary.startswith("sqlite:"):
        yield f"{setting}: only PostgreSQL has standbys, and {primary_setting} is SQLite"
        return
    for number, url in enumerate(urls):
        name = f"{setting}[{number}]"
        try:
            address = parse_database_url(url, name)
        except StartupError as error:
            yield str(error)
            continue
        if address.dialect != "postgresql":
            yield f"{name}: expected postgresql://host/name"
        elif len(hosts_of(url)) > 1:
            yield f"{name}: names several servers; give each of them a URL of its own"


def open_standbys(settings: Settings, application_name: str, *, of_placement: bool) -> list[Standby]:
    """Returns the standbys of one half's database. Nothing is connected yet."""
    database = settings.database
    standbys = []
    for url in read_urls(settings, of_placement=of_placement)[1]:
        base, _, query = url_with_password(url, database.password).partition("?")
        engine = Engine(
            f"{base}?{_IMPATIENT}&{query}".rstrip("&"),
            pool_size=database.pool_size,
            statement_timeout=database.statement_timeout,
            lock_timeout=database.lock_timeout,
            application_name=application_name,
            pooler=database.pooler,
            patience=WITH_STANDBY,
        )
        options = engine.address.options
        standbys.append(Standby(engine, f"{options.get('host', 'local')}:{options['port']}"))
    return standbys


def with_standbys(settings: Settings, primary: Engine, application_name: str, label: str) -> Engine:
    """Returns an engine that reads from the standbys as well; without any, it is the primary's as it was."""
    standbys = open_standbys(settings, application_name, of_placement=label == "placement")
    if not standbys:
        return primary
    return ReplicatedEngine(primary, standbys, max_lag=settings.database.max_replica_lag, label=label)
