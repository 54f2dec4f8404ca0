"""The database of the Go Limes, which is only read, and its rows."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, TypeVar

from peewee import Select, Table, fn

from limes.app.importer.layout import Layout, Rows
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS, first_line
from limes.kernel.errors import ConfigError, StartupError

R = TypeVar("R", bound=NamedTuple)


class DomainRow(NamedTuple):
    uuid: str
    name: str


class DomainQuotaRow(NamedTuple):
    domain: str
    service: str
    resource: str
    quota: int


class CapacityRow(NamedTuple):
    service: str
    resource: str
    capacitor: str
    az: str
    raw_capacity: int
    usage: int | None
    subcapacities: str


class CapacitorRow(NamedTuple):
    name: str
    scraped_at: float | None


class ProjectRow(NamedTuple):
    id: int
    uuid: str
    name: str
    parent_uuid: str
    domain: str
    has_bursting: bool


class ServiceRow(NamedTuple):
    project: int
    service: str
    scraped_at: float | None
    checked_at: float | None
    stale: bool
    duration: float
    error: str


class QuotaRow(NamedTuple):
    project: int
    service: str
    resource: str
    quota: int | None
    backend_quota: int | None
    max_quota: int | None
    forbids_autogrowth: bool


class OverrideRow(NamedTuple):
    domain: str
    project: str
    service: str
    resource: str
    override: int


class AZQuotaRow(NamedTuple):
    """A project's quota in an AZ; or the whole of it, where it is not split."""

    project: int
    service: str
    resource: str
    az: str
    quota: int
    is_split: bool


class UsageRow(NamedTuple):
    project: int
    service: str
    resource: str
    az: str
    usage: int
    physical_usage: int | None
    subresources: str
    history: str


class CommitmentRow(NamedTuple):
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
    """The database's contents. Use it inside `engine.snapshot`, so that all queries see one state."""

    def __init__(self, engine: Engine) -> None:
        """Raises `ConfigError` if it is not a database of the Go Limes, or its version is not known."""
        self.engine = engine
        self.layout = Layout(_version(engine))

    def rows_of(self, relation: str) -> Rows:
        return getattr(self.layout, relation)

    def count(self, relation: str) -> int:
        return self._count(self.rows_of(relation))

    def stream(self, relation: str, kind: type[R], order: Collection[str]) -> Iterator[R]:
        """Yields the rows of a kind, which never stand in memory all at once. Columns as `Layout` says."""
        rows = self.rows_of(relation).alias("x")
        query = Select([rows], [getattr(rows.c, name) for name in kind._fields])
        return self.engine.stream(query.order_by(*(getattr(rows.c, name) for name in order)), kind)

    def lost(self) -> list[str]:
        """Returns a line for each kind with rows that refer to nothing, so that the queries leave them out."""
        return [
            f"{expected - complete} rows of {relation} in the source refer to nothing"
            for relation, rows in self.layout.complete.items()
            if (expected := self._count(rows)) != (complete := self.count(relation))
        ]

    def dropped(self) -> dict[str, int]:
        counted = {name: self._count(rows) for name, rows in self.layout.dropped.items()}
        return {name: count for name, count in counted.items() if count}

    def _count(self, rows: Rows) -> int:
        (count,) = self.engine.column(Select([rows.alias("x")], [fn.COUNT(1)]))
        return int(count)


def open_source(url: str) -> Engine:
    """Returns an engine on the source, without timeouts. Raises `StartupError` if it does not answer."""
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
    tables = [fn.to_regclass(name).cast("text") for name in ("schema_migrations", "project_commitments")]
    if None in engine.tuples(Select(columns=tables))[0]:
        raise ConfigError([f"the {engine.location} is none of the Go Limes: it has no tables of that kind"])
    migrations: Any = Table("schema_migrations")
    ((version, dirty),) = engine.tuples(migrations.select(migrations.c.version, migrations.c.dirty))
    if dirty:
        raise ConfigError([f"the source's migration {version} has failed half-way (dirty): repair it there first"])
    return int(version)
