"""The database of the Go Limes, read only."""

from collections.abc import Iterator
from typing import NamedTuple

from limes.db.engine import Engine, Row
from limes.db.failures import DATABASE_ERRORS, first_line
from limes.errors import ConfigError, StartupError
from limes.importer.layout import Layout


class DomainRow(NamedTuple):
    """A domain."""

    uuid: str
    name: str


class DomainQuotaRow(NamedTuple):
    """A domain's quota."""

    domain: str
    service: str
    resource: str
    quota: int


class CapacityRow(NamedTuple):
    """Capacity of a resource in an AZ."""

    service: str
    resource: str
    capacitor: str
    az: str
    raw_capacity: int
    usage: int | None
    subcapacities: str


class CapacitorRow(NamedTuple):
    """When a capacitor was scraped."""

    name: str
    scraped_at: float | None


class ProjectRow(NamedTuple):
    """A project; `id` is the source's own number for it."""

    id: int
    uuid: str
    name: str
    parent_uuid: str
    domain: str
    has_bursting: bool


class ServiceRow(NamedTuple):
    """A project's service."""

    project: int
    service: str
    scraped_at: float | None
    checked_at: float | None
    stale: bool
    duration: float
    error: str


class QuotaRow(NamedTuple):
    """A project's quota."""

    project: int
    service: str
    resource: str
    quota: int | None
    backend_quota: int | None


class UsageRow(NamedTuple):
    """A project's usage in an AZ."""

    project: int
    service: str
    resource: str
    az: str
    usage: int
    physical_usage: int | None
    subresources: str


class CommitmentRow(NamedTuple):
    """A commitment, as the source has it."""

    id: int
    uuid: str | None
    project: int
    service: str
    resource: str
    az: str
    amount: int
    duration: str
    state: str
    created_at: float
    creator_uuid: str
    creator_name: str
    confirm_by: float | None
    confirmed_at: float | None
    expires_at: float
    superseded_at: float | None
    predecessor: int | None
    transfer_status: str
    transfer_token: str | None


class Source:
    """Everything in it, in one snapshot: use it inside `engine.snapshot`."""

    def __init__(self, engine: Engine) -> None:
        """Raises `ConfigError` if it is no database of the Go Limes, or one whose shape is not known."""
        self.engine = engine
        self.layout = Layout(_version(engine))

    def count(self, what: str) -> int:
        """How many rows of a kind there are."""
        return self._number(f"SELECT COUNT(*) FROM ({getattr(self.layout, what)}) x")

    def stream(self, what: str, order: str) -> Iterator[Row]:
        """The rows of a kind, which never stand in memory all at once. Columns as `Layout` says."""
        yield from self.engine.stream_text(f"SELECT * FROM ({getattr(self.layout, what)}) x ORDER BY {order}")

    def rows(self, sql: str) -> list[Row]:
        """The rows of a statement. A per cent sign is one."""
        return self.engine.rows(sql)

    def lost(self) -> list[str]:
        """Kinds of which rows hang on nothing, so that the statements do not give them."""
        return [
            f"{wanted - found} rows of {what} in the source refer to nothing"
            for what, sql in self.layout.counts.items()
            if (wanted := self._number(sql)) != (found := self.count(what))
        ]

    def dropped(self) -> dict[str, int]:
        """What is not imported, and how much of it there is."""
        counted = {what: self._number(sql) for what, sql in self.layout.dropped.items()}
        return {what: count for what, count in counted.items() if count}

    def _number(self, sql: str) -> int:
        ((found,),) = self.engine.rows(sql)
        return int(found)


def open_source(url: str) -> Engine:
    """An engine on the source, without limits of time. Raises `StartupError` if it does not answer."""
    engine = Engine(url, pool_size=2, statement_timeout=0, lock_timeout=0, application_name="limes-import")
    if engine.dialect != "postgresql":
        raise ConfigError(["--database: the Go Limes has PostgreSQL only: postgresql://user@host/name"])
    try:
        engine.db.connect()
        engine.db.close()
    except DATABASE_ERRORS as error:
        raise StartupError(f"the {engine.location} does not answer: {first_line(error)}") from None
    return engine


def _version(engine: Engine) -> int:
    found = engine.rows("SELECT to_regclass('schema_migrations')::text, to_regclass('project_commitments')::text")
    if None in found[0]:
        raise ConfigError([f"the {engine.location} is none of the Go Limes: it has no tables of that kind"])
    ((version, dirty),) = engine.rows("SELECT version, dirty FROM schema_migrations")
    if dirty:
        raise ConfigError([f"the source's migration {version} has failed half-way (dirty): have it mended there first"])
    return int(version)
