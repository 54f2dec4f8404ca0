"""Each query that Limes runs is prepared on both databases, and gives what its row type says: this many columns, of
these types, and NULL only where the row type has None. So no other test has to run on PostgreSQL for that."""

import itertools
import re
import types
import typing
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple, Union

import peewee
import pytest
from peewee import JOIN, fn
from psycopg2 import Error as PostgresError
from psycopg2 import IntegrityError

from limes.catalog.models import Resource
from limes.db import compiled_rows as words
from limes.db.base import bind
from limes.db.compiled import Compiled, Param, Parameters, Statement
from limes.db.compiled_rows import CompiledForRows
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS
from limes.db.migrate import limes_migrations
from limes.lifetimes import queries as lifetimes
from limes.notifications import queries as mails
from limes.placement.migrations import placement_migrations
from limes.projects.models import Domain, DomainResource
from tests.db.column_types import Column, columns_of
from tests.db.query_calls import Call, Recorder, Use, built_uses, calls, constant_uses, decorated_uses, unnamed_uses
from tests.support.databases import MigratedUrlFactory

NOT_ON = {
    "sqlite": re.compile(
        "no such function: (CLOCK_TIMESTAMP|pg_)|no such table: (suspicious_|unused_c|project_sums|commitment_sums)"
        '|near "SELECT": syntax error'  # behind LATERAL
    ),
    "postgresql": re.compile('relation "placement_change_counter" does not exist'),
}
"""What only the other database has."""
UNTYPED = {"42P18", "42804", "42883", "42725"}
"""SQLSTATE of what PostgreSQL says of parameters whose types it does not know."""
SAMPLES = {"bigint": 1, "integer": 1, "smallint": 1, "double precision": 1.5, "numeric": 1, "boolean": True}
"""Values of PostgreSQL's types; of others, text."""
TYPES = {16: bool, 20: int, 21: int, 23: int, 1700: int, 25: str, 1043: str, 701: float}
"""What PostgreSQL's types, by their numbers, are read as. Sums are NUMERIC, and amounts."""


@pytest.fixture
def recorder(database_url_with: MigratedUrlFactory) -> Iterator[Recorder]:
    recorder = Recorder(database_url_with(limes_migrations, placement_migrations))
    bind(recorder.db)
    yield recorder
    recorder.close()


def uses_of(recorder: Recorder) -> list[Use]:
    """All queries with their row types."""
    mails.with_names(recorder, [{"project": {"id": "p"}, "domain": {"id": "d"}}])
    filters = {name: ["x"] for name in lifetimes.FILTERS}
    lifetimes.page(recorder, lifetimes.LifetimeFilter(0, 1, "d", "p", filters), 0, 1)
    found: dict[Any, Use] = {}
    for use in (*decorated_uses(), *constant_uses(), *built_uses(recorder)):
        found.setdefault((use.call, id(use.query), use.kind), use)
    known = {id(use.query) for use in found.values()}
    return [*found.values(), *(use for use in unnamed_uses() if id(use.query) not in known)]


def node_of(query: Any) -> Any:
    if isinstance(query, Compiled):
        return query._build(Parameters())
    return query._build(Parameters(), 1) if isinstance(query, CompiledForRows) else query


# -- what the row types say --------------------------------------------------------------------------------------------


def mistakes(use: Use, columns: list[Column]) -> Iterator[str]:
    """What the code that reads a query says otherwise than the query."""
    if use.call.method == "column" and len(columns) != 1:
        yield f"gives {len(columns)} columns instead of one"
    if use.width not in (None, len(columns)):
        yield f"gives {len(columns)} columns instead of {use.width}"
    if use.call.method in ("other", "write") and use.kind is None and columns:
        yield "has no row type"
    if use.kind is None:
        return
    if isinstance(use.kind, tuple):
        kind, hints = "column", {str(number): hint for number, hint in enumerate(use.kind, 1)}
    else:
        kind, hints = use.kind.__name__, typing.get_type_hints(use.kind)
        hints = {name: hints.get(name, Any) for name in use.kind._fields}
    if len(hints) != len(columns):
        yield f"gives {len(columns)} columns for the {len(hints)} fields of {kind}"
        return
    for (name, hint), column in zip(hints.items(), columns, strict=True):
        wanted = set(typing.get_args(hint)) if typing.get_origin(hint) in (Union, types.UnionType) else {hint}
        if Any in wanted:
            continue
        if column.may_be_null and types.NoneType not in wanted:
            yield f"{kind}.{name} may be NULL"
        if column.type is not None and column.type not in wanted:
            yield f"{kind}.{name} is {column.type.__name__}"


# -- what the databases say --------------------------------------------------------------------------------------------


def misread(uses: list[Use]) -> set[str]:
    return {f"{use.call}: {mistake}" for use in uses for mistake in mistakes(use, columns_of(node_of(use.query)))}


def refused(recorder: Recorder, uses: list[Use]) -> set[str]:
    """What the database says of queries. PostgreSQL also runs each, and gives the types that follow from the models."""
    wrong = set()
    prepare = on_sqlite if recorder.dialect == "sqlite" else on_postgresql
    for use in uses:
        for count in (1, 33) if isinstance(use.query, CompiledForRows) else (1,):
            statement = recorder._statement(use.query, {"rows": [()] * count})
            try:
                given = prepare(recorder, statement, count)
            except DATABASE_ERRORS as error:
                if not NOT_ON[recorder.dialect].match(str(error)):
                    wrong.add(f"{use.call}: {error}")
                continue
            expected = [] if given is None else [column.type for column in columns_of(node_of(use.query))]
            if not fits(given or [], expected):
                wrong.add(f"{use.call}: gives {given}, not {expected}")
    return wrong


def test_each_query_gives_what_its_row_type_says(recorder: Recorder) -> None:
    uses = uses_of(recorder)
    assert sorted(misread(uses) | refused(recorder, uses)) == []
    if recorder.dialect == "postgresql":  # which has some that SQLite has not
        assert {str(call) for call in calls()} - {str(use.call) for use in uses} == set()


def fits(given: list[type | None], expected: list[type | None]) -> bool:
    """Whether these are the same types, as far as they are known."""
    if len(given) != len(expected):
        return False
    return all(one is other for one, other in zip(given, expected, strict=True) if one and other)


class Given(NamedTuple):
    """A value that is given when the query runs."""

    name: str = ""


def values_of(statement: Statement, count: int) -> Iterator[Any]:
    """What stands at each mark."""
    marks = statement.sql.count("?" if statement.dialect == "sqlite" else "%s")
    cells = marks - len(statement.values) + 1
    for value in statement.values:
        if isinstance(value, words._AllRows):
            width = cells // count - len(value.defaults)
            yield from (*[Given()] * width, *value.defaults) * count
        else:
            is_given = isinstance(value, Param | words._RowsAsJSON)
            yield Given(value.name if isinstance(value, Param) else "") if is_given else value


def on_sqlite(engine: Engine, statement: Statement, count: int) -> list[type | None] | None:
    values = [1 if isinstance(value, Given) else value for value in values_of(statement, count)]
    if not statement.sql.startswith(("SELECT", "WITH")):
        engine.db.execute_sql(f"EXPLAIN {statement.sql}", values)
        return None
    return [None] * len(engine.db.execute_sql(statement.sql, values).description)


def on_postgresql(engine: Engine, statement: Statement, count: int) -> list[type | None] | None:
    with engine.connection(), engine.db.atomic():
        cursor = engine.db.connection().cursor()
        try:
            return _run(cursor, statement, list(values_of(statement, count)))
        except PostgresError as error:
            raise peewee.DatabaseError(str(error).partition("\n")[0]) from None
        finally:
            cursor.execute("ROLLBACK")
            cursor.execute("BEGIN")


def _run(cursor: Any, statement: Statement, values: list[Any]) -> list[type | None] | None:
    numbers: dict[Hashable, int] = {}
    marks = []
    for index, value in enumerate(values):
        if isinstance(value, Given):
            marks.append(f"${numbers.setdefault(value.name or index, len(numbers) + 1)}")
        else:
            marks.append(cursor.mogrify("%s", [value]).decode())
    kinds = _prepared(cursor, statement.sql % tuple(marks), len(numbers))
    if any(isinstance(value, words._RowsAsJSON) for value in statement.values):
        return None
    cursor.execute("SET LOCAL session_replication_role = replica")  # no foreign keys
    try:
        cursor.execute(f"EXECUTE query{cursor.mogrify('%s', [tuple(map(sample, kinds))]).decode() if kinds else ''}")
    except IntegrityError:  # these values do not fit together
        return None
    return None if cursor.description is None else [TYPES.get(column.type_code) for column in cursor.description]


def _prepared(cursor: Any, text: str, count: int) -> list[str]:
    """The types of the parameters. PostgreSQL is told as few of them as it needs to know: Limes sends values."""
    refusals = []
    for told in range(4):
        for chosen in itertools.combinations(range(count), told):
            for kind in ("bigint", "double precision", "text", "boolean") if told else ("unknown",):
                declared = ", ".join(kind if number in chosen else "unknown" for number in range(count))
                cursor.execute("DEALLOCATE ALL")
                cursor.execute("SAVEPOINT before")
                try:
                    cursor.execute(f"PREPARE query{f'({declared})' if count else ''} AS {text}")
                except PostgresError as error:
                    refusals.append(error)
                    cursor.execute("ROLLBACK TO before")
                    continue
                cursor.execute("SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'query'")
                ((kinds,),) = cursor.fetchall()
                return list(kinds)
            if told == 0 and refusals[0].pgcode not in UNTYPED:
                raise refusals[0]
    raise refusals[0]


def sample(kind: str) -> Any:
    """A value of a type of PostgreSQL."""
    if kind.endswith("[]"):
        return [sample(kind.removesuffix("[]"))]
    return SAMPLES.get(kind, "x")


# -- mistakes that are found -------------------------------------------------------------------------------------------


class Right(NamedTuple):
    domain: str
    resource: int
    quota: int | None
    share: int


class Swapped(NamedTuple):
    resource: int
    domain: str
    quota: int | None
    share: int


class NeverNull(NamedTuple):
    domain: str
    resource: int
    quota: int
    share: int


class OtherNumber(NamedTuple):
    domain: str
    resource: int
    quota: float | None
    share: int


class TooShort(NamedTuple):
    domain: str
    resource: int
    quota: int | None


_QUOTA = DomainResource.select(DomainResource.domain, DomainResource.resource, DomainResource.quota).alias("q")
_JOINED = Compiled(
    lambda p: (
        Domain.select(Domain.name, Resource.id, _QUOTA.c.quota, fn.COALESCE(fn.SUM(_QUOTA.c.quota), 0))
        .join(Resource, JOIN.CROSS)
        .join(_QUOTA, JOIN.LEFT_OUTER, on=_QUOTA.c.domain_id == Domain.id)
        .group_by(Domain.name, Resource.id, _QUOTA.c.quota)
    )
)
_SUM = Compiled(lambda p: DomainResource.select(fn.SUM(DomainResource.domain)))
_SUMS = Compiled(lambda p: DomainResource.select(fn.SUM(DomainResource.domain)).group_by(DomainResource.resource))
_PRESENT = Compiled(lambda p: DomainResource.select(DomainResource.quota).where(DomainResource.quota > p.least))


class Amount(NamedTuple):
    amount: int


@pytest.mark.parametrize(
    ("query", "kind", "expected"),
    [
        (_JOINED, Right, []),
        (_JOINED, Swapped, ["Swapped.resource is str", "Swapped.domain is int"]),
        (_JOINED, NeverNull, ["NeverNull.quota may be NULL"]),
        (_JOINED, OtherNumber, ["OtherNumber.quota is int"]),
        (_JOINED, TooShort, ["gives 4 columns for the 3 fields of TooShort"]),
        (_SUM, Amount, ["Amount.amount may be NULL"]),
        (_SUMS, Amount, []),
        (_PRESENT, Amount, []),
    ],
)
def test_mistakes_of_row_types(query: Compiled, kind: Any, expected: list[str]) -> None:
    use = Use(Call("file", 1, 1, "all"), query, kind, None)
    assert list(mistakes(use, columns_of(node_of(query)))) == expected


@pytest.mark.parametrize(("method", "width"), [("column", None), ("tuples", 2)])
def test_mistakes_where_columns_are_unpacked(method: str, width: int | None) -> None:
    use = Use(Call("file", 1, 1, method), _JOINED, None, width)
    assert [each[:15] for each in mistakes(use, columns_of(node_of(_JOINED)))] == ["gives 4 columns"]
