"""From the settings to the engines of both halves, and to standbys that answer reads. Nothing is connected yet."""

from collections.abc import Iterator

from limes.app.settings import Settings, url_with_password
from limes.db import connections, replicas, watch
from limes.db.engine import Engine
from limes.db.standbys import Standby
from limes.kernel import errors, redaction

_IMPATIENT = "connect_timeout=1&tcp_user_timeout=5000"
"""libpq's parameters for a server that another one can stand in for. Those of the URL have precedence."""


def open_engine(settings: Settings, application_name: str) -> Engine:
    """Returns the engine for the Limes half's database."""
    return _open(settings, url_with_password(settings.database.url, settings.database.password), application_name)


def open_placement_engine(settings: Settings, application_name: str) -> Engine:
    """Returns the engine for the Placement half's database: its own, or the same as the Limes half's."""
    url = settings.placement.database_url or settings.database.url
    return _open(settings, url_with_password(url, settings.database.password), application_name)


def _open(settings: Settings, url: str, application_name: str, patience: watch.Patience = watch.WITH_PRIMARY) -> Engine:
    database = settings.database
    return Engine(
        url,
        pool_size=database.pool_size,
        statement_timeout=database.statement_timeout,
        lock_timeout=database.lock_timeout,
        application_name=application_name,
        pooler=database.pooler,
        patience=patience,
    )


def read_urls(settings: Settings, *, of_placement: bool) -> tuple[str, tuple[str, ...]]:
    """Returns the setting that names the standbys of one half's database, and their URLs."""
    if of_placement and settings.placement.database_url:
        return "placement.read_urls", settings.placement.read_urls
    return "database.read_urls", settings.database.read_urls


def require_valid_urls(settings: Settings) -> None:
    """Raises `ConfigError` if the addresses of databases and standbys are wrong, as far as the file tells."""
    primary, own, urls = settings.database.url, settings.placement.database_url, settings.placement.read_urls
    problems = [*_problem_of("database.url", primary), *(_problem_of("placement.database_url", own) if own else ())]
    problems += _problems_of_standbys("database.read_urls", settings.database.read_urls, "database.url", primary)
    if own:
        problems += _problems_of_standbys("placement.read_urls", urls, "placement.database_url", own)
    elif urls:
        only = "the standbys of database.url are database.read_urls"
        problems.append(f"placement.read_urls: needs placement.database_url; {only}")
    if problems:
        raise errors.ConfigError(problems)


def _problem_of(name: str, url: str) -> Iterator[str]:
    try:
        connections.parse_database_url(url, name)
    except errors.StartupError as error:
        yield str(error)


def _problems_of_standbys(setting: str, urls: tuple[str, ...], primary_setting: str, primary: str) -> Iterator[str]:
    if urls and primary.startswith("sqlite:"):
        yield f"{setting}: only PostgreSQL has standbys, and {primary_setting} is SQLite"
        return
    for number, url in enumerate(urls):
        name = f"{setting}[{number}]"
        if problems := list(_problem_of(name, url)):
            yield from problems
        elif connections.parse_database_url(url).dialect != "postgresql":
            yield f"{name}: expected postgresql://host/name"
        elif len(redaction.hosts_of(url)) > 1:
            yield f"{name}: names several servers; give each of them a URL of its own"


def open_standbys(settings: Settings, application_name: str, *, of_placement: bool) -> list[Standby]:
    standbys = []
    for url in read_urls(settings, of_placement=of_placement)[1]:
        base, _, query = url_with_password(url, settings.database.password).partition("?")
        impatient = f"{base}?{_IMPATIENT}&{query}".rstrip("&")
        engine = _open(settings, impatient, application_name, watch.WITH_STANDBY)
        options = engine.address.options
        standbys.append(Standby(engine, f"{options.get('host', 'local')}:{options['port']}"))
    return standbys


def with_standbys(settings: Settings, primary: Engine, application_name: str, label: str) -> Engine:
    """Returns an engine that reads from the standbys as well; without any, it is the primary's as it was."""
    standbys = open_standbys(settings, application_name, of_placement=label == "placement")
    if not standbys:
        return primary
    return replicas.ReplicatedEngine(primary, standbys, max_lag=settings.database.max_replica_lag, label=label)
