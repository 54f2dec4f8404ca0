"""The databases of both halves: reachable, up to date, writable, on time, and with connections enough."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from peewee import Table

from limes.app.composition.cluster import build_cluster
from limes.app.context import open_limes
from limes.app.databases import open_engine, open_placement_engine
from limes.app.doctor.context import Context, compare_clocks
from limes.app.doctor.postgresql import check_connections, check_pooler, check_standbys
from limes.app.features import entries
from limes.db import advice, migrate
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS, Failure, classify, first_line, is_read_only
from limes.kernel.errors import LimesError, StartupError
from limes.kernel.findings import Finding, ok, problem, skipped, warning
from limes.placement.migrations import placement_migrations
from limes.usage import sum_upkeep, sums

_REBUILD = "limes db rebuild-sums"
_SHOWN_SUMS = 3


def check_contents(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """All checks; `name` begins the findings' names. Those of features need the configuration, and are left out where
    it is wrong: the check of the configuration says why."""
    yield from _sums(f"{name}.sums", context, engine)
    try:
        cluster = build_cluster(context.settings)
    except LimesError:
        return
    limes = open_limes(cluster, engine, context.settings, clock=context.clock)
    for check in entries("checks", "CHECKS"):
        yield from check(name, limes)


def _sums(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """Adds up the rows of all projects, and compares with the sums that PostgreSQL keeps (docs/adr/0024)."""
    if not sums.are_stored(engine):
        return
    off = sum_upkeep.disabled_triggers(engine)
    if off:
        text = f"triggers that keep the sums over projects are disabled: {', '.join(off)}"
        yield problem(name, text, f"ALTER TABLE ... ENABLE TRIGGER ALL for these tables, and then {_REBUILD}")
    wrong = sum_upkeep.wrong_sums(engine, context.now())
    if wrong:
        shown = "; ".join(f"{each.what} {each.key}: {each.kept}, not {each.computed}" for each in wrong[:_SHOWN_SUMS])
        text = (
            f"{len(wrong)} stored sums over projects are wrong, so that reports and room for commitments are: {shown}"
        )
        yield problem(name, text, _REBUILD)
    elif not off:
        yield ok(name, "the stored sums over projects are what their rows add up to")


_UPGRADE = "limes db upgrade"


class _Database(NamedTuple):
    check: str
    """What its findings begin with."""
    engine: Engine
    migrations: list[migrate.Migrations]


def check(context: Context) -> Iterator[Finding]:
    """Each database: there are two if the Placement half has its own."""
    settings, databases = context.settings, []
    is_one = settings.placement.database_url in (None, settings.database.url)
    ours = ([] if settings.for_placement_alone else [migrate.limes_migrations]) + (
        [placement_migrations] if is_one else []
    )
    try:
        if ours:
            databases.append(_Database("database", open_engine(settings, "limes-doctor"), ours))
        if not is_one:
            engine = open_placement_engine(settings, "limes-doctor")
            databases.append(_Database("database.placement", engine, [placement_migrations]))
    except StartupError:
        yield skipped("database", "its address in the configuration has to be corrected first")
        return
    for database in databases:
        with closing(database.engine):
            yield from _check(context, database)


def _check(context: Context, database: _Database) -> Iterator[Finding]:
    engine, name = database.engine, database.check
    reached = _reach(database)
    yield reached
    if reached.mend:
        yield skipped(f"{name}.schema", "the database has to answer first")
        return
    pending = list(_schema(database))
    yield from pending
    if not any(finding.mend for finding in pending):
        yield _writable(database)
        if migrate.limes_migrations in database.migrations:
            yield from check_contents(name, context, engine)
    if engine.dialect == "postgresql":
        try:
            ahead = advice.ahead_of_database(engine, context.now)
            yield compare_clocks(f"{name}.clock", ahead, "the database's", context.settings.collector.max_clock_skew)
        except LimesError as error:
            yield skipped(f"{name}.clock", str(error))
        yield from check_connections(name, engine, context.settings)
        yield check_pooler(name, engine, context.settings)
        yield from check_standbys(name, engine, context.settings)


def _reach(database: _Database) -> Finding:
    engine, name = database.engine, f"{database.check}.connection"
    if engine.dialect == "sqlite" and not Path(engine.name).is_file():  # connecting would create it
        folder = Path(engine.name).absolute().parent
        mend = _UPGRADE if folder.is_dir() else f"mkdir -p {folder}; {_UPGRADE}"
        return problem(name, f"there is no {engine.location}", mend)
    try:
        advice.try_connection(engine)
    except DATABASE_ERRORS as error:
        reason = advice.reason_of(error)
        return problem(name, f"{engine.location}: {reason}", advice.advise_on_connection(reason, engine.address))
    return ok(name, f"the {engine.location} answers")


def _schema(database: _Database) -> Iterator[Finding]:
    name = f"{database.check}.schema"
    for migrations in database.migrations:
        try:
            pending, unknown = migrations.pending(database.engine), migrations.unknown(database.engine)
        except StartupError as error:
            yield problem(name, str(error), "give our user the right to read its tables, or restore them from a backup")
            continue
        if pending:
            yield problem(name, f"the {migrations.name} schema lacks {', '.join(pending)}", _UPGRADE)
            if database.engine.dialect == "postgresql":
                yield from _right_to_create(name, database.engine)
        elif unknown:
            text = f"the {migrations.name} schema was made by a newer release (it has {', '.join(sorted(unknown))})"
            yield warning(name, text, "run the newer release here as well")
        else:
            yield ok(name, f"the {migrations.name} schema is up to date")


def _right_to_create(name: str, engine: Engine) -> Iterator[Finding]:
    """Without it, the upgrade fails."""
    # SQL text: PostgreSQL's functions for rights have no models
    ((schema, allowed),) = engine.rows(
        "SELECT current_schema(), has_schema_privilege(coalesce(current_schema(), 'public'), 'CREATE')"
    )
    if not allowed:
        reason = f"permission denied for schema {schema or 'public'}"
        text = f"our user may not make tables, so that {_UPGRADE} fails: {reason}"
        yield problem(name, text, advice.advise_on_schema(reason, engine.address) or "")


class _Undo(Exception):
    """Rolls the transaction back."""


def _writable(database: _Database) -> Finding:
    """Writes unchanged values in a transaction that is rolled back."""
    engine, name = database.engine, f"{database.check}.writable"
    tables = [migrations.history_table for migrations in database.migrations]
    try:
        with engine.connection(), engine.db.atomic():
            for history in (Table(name) for name in tables):
                engine.write(history.update({history.c.name: history.c.name}))
            raise _Undo
    except _Undo:
        pass
    except DATABASE_ERRORS as error:
        return problem(name, *_why_not_writable(engine, error))
    missing = _tables_without_rights(engine, tables[0]) if engine.dialect == "postgresql" else []
    if missing:
        text = f"our user may not change {len(missing)} tables: {', '.join(missing[:5])}"
        return problem(name, text, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO our user")
    return ok(name, "the database can be written")


def _why_not_writable(engine: Engine, error: Exception) -> tuple[str, str]:
    is_full = classify(error) is Failure.FULL
    text = f"cannot be written{', as its disk is full' if is_full else ''}: {first_line(error)}"
    if engine.dialect == "sqlite":
        folder = Path(engine.name).absolute().parent
        mend = f"our user has to be able to write {engine.name} and its folder {folder}; df shows whether it is full"
        return text, mend
    if is_read_only(error):
        mend = "name all servers in database.url (postgresql://user@one,two/name), so that the primary is looked for"
        return "the database accepts no writes: it is a standby, or set to read-only", mend
    if is_full:
        return text, advice.FREE_SPACE
    return text, "make our user the owner of the database's tables: ALTER TABLE ... OWNER TO ..."


def _tables_without_rights(engine: Engine, known: str) -> list[str]:
    """Returns tables beside a known one, of the same owner, that our user cannot change."""
    # SQL text: PostgreSQL's catalogue has no models
    rows = engine.rows(
        "SELECT one.relname FROM pg_class one JOIN pg_class known"
        " ON known.relnamespace = one.relnamespace AND known.relowner = one.relowner"
        " WHERE known.oid = %s::regclass AND one.relkind = 'r' AND NOT ("
        " has_table_privilege(one.oid, 'SELECT') AND has_table_privilege(one.oid, 'INSERT')"
        " AND has_table_privilege(one.oid, 'UPDATE') AND has_table_privilege(one.oid, 'DELETE'))"
        " ORDER BY one.relname",
        [known],
    )
    return [name for (name,) in rows]
