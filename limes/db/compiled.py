"""Queries on the models that are built once and then run with values.

Building a small query with peewee takes 0.1 to 0.4 ms, which is longer than many of them run. So queries are functions
of their parameters (`limes.db.query` has a shorter form), and built with the first use on each kind of database:

    _TRAITS_BY_NAME = Compiled(lambda p: Trait.select(Trait.id).where(any_of(Trait.name, p.names)))
    engine.all(_TRAITS_BY_NAME, TraitRow, names=["HW_CPU_X86_AVX"])

`p.names` stands for the value that is given by this name when the query runs. A list is one parameter (`any_of`), so
the text of a query never depends on its values, and PostgreSQL can keep its plan.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any

import orjson
import peewee
from msgspec import Struct
from peewee import Cast, fn

if TYPE_CHECKING:
    Select = peewee.ModelSelect[Any]
else:
    Select = peewee.ModelSelect  # which is generic for type checkers only

Build = Callable[["Parameters"], peewee.Node]

_INNERMOST = re.compile(r"(ARRAY|= )?\(([^()]*)\)")
"""What is between two parentheses. The first group is there if PostgreSQL runs a SELECT in them before all else."""


class Param(Struct, frozen=True):
    name: str
    is_list: bool = False


class Parameters:
    def __getattr__(self, name: str) -> peewee.Value:
        return peewee.Value(Param(name), converter=False)


_LITERALS = (int, float, NoneType)


class Statement:
    __slots__ = ("_list_parameters", "_parameters", "_prepared", "dialect", "prepare", "sql", "values")

    def __init__(self, sql: str, values: tuple[Any, ...], dialect: str, *, prepare: bool = False) -> None:
        self.prepare = prepare
        self._prepared: Prepared | None = None
        self.sql = sql
        """With that database's parameter marks."""
        self.values = values
        """In the order of the marks: a `Param`, or a value that is part of the query."""
        self.dialect = dialect
        parameters = [(index, value) for index, value in enumerate(values) if isinstance(value, Param)]
        self._parameters = [(index, param.name) for index, param in parameters if not param.is_list]
        self._list_parameters = [(index, param.name) for index, param in parameters if param.is_list]

    def bind(self, values: Mapping[str, Any]) -> list[Any]:
        """Returns the values for the marks. Raises `KeyError` for a parameter without a value."""
        bound = list(self.values)
        for index, name in self._parameters:
            bound[index] = values[name]
        for index, name in self._list_parameters:
            bound[index] = _list_value(values[name], self.dialect)
        return bound

    @property
    def prepared(self) -> "Prepared":
        if self._prepared is None:
            self._prepared = Prepared(self.sql, self._behind_marks())
        return self._prepared

    def _behind_marks(self) -> list[Any]:
        """Returns for each mark the value that is part of the query, or something else."""
        return list(self.values)


class Prepared:
    """A statement in the form of PREPARE and EXECUTE. Numbers that are part of it stay in its text: PostgreSQL would
    not always know their type."""

    __slots__ = ("_given", "call", "name", "text")

    def __init__(self, sql: str, behind_marks: Sequence[Any]) -> None:
        self._given = [index for index, value in enumerate(behind_marks) if not isinstance(value, _LITERALS)]
        numbers = {index: f"${number}" for number, index in enumerate(self._given, 1)}
        filled = sql % tuple(numbers.get(index) or _literal(value) for index, value in enumerate(behind_marks))
        # a pooler that is not known may give us a connection on which another process has prepared something
        self.name = f"limes_{hashlib.blake2s(filled.encode(), digest_size=10).hexdigest()}"
        # SQL text: PREPARE and EXECUTE
        self.text = f"PREPARE {self.name} AS {filled}".replace("%", "%%")
        marks = f"({', '.join(['%s'] * len(numbers))})" if numbers else ""
        self.call = f"EXECUTE {self.name}{marks}"

    def bind(self, bound: Sequence[Any]) -> list[Any]:
        """Returns the values of EXECUTE, of those for all marks."""
        return [bound[index] for index in self._given]


def _literal(value: float | None) -> str:
    return "NULL" if value is None else f"({value})".upper()


class Compiled:
    """Safe to use from many threads."""

    __slots__ = ("_build", "_statements", "prepare")

    def __init__(self, build: Build, *, prepare: bool = False) -> None:
        """`build` must not depend on anything but its parameters."""
        self.prepare = prepare
        """Whether PostgreSQL plans it only once for each connection: for statements that run often."""
        self._build = build
        self._statements: dict[str, Statement] = {}

    def statement(self, dialect: str, database: peewee.Database, values: Mapping[str, Any]) -> Statement:
        """Returns the query for `sqlite` or `postgresql`, built once. Its text does not depend on `values`."""
        statement = self._statements.get(dialect)
        if statement is None:
            statement = compile_query(self._build(Parameters()), dialect, database, prepare=self.prepare)
            self._statements[dialect] = statement
        return statement


def compile_query(query: peewee.Node, dialect: str, database: peewee.Database, *, prepare: bool = False) -> Statement:
    insert: Any = query if isinstance(query, peewee.ModelInsert) else None
    if insert is not None and insert._row_type is None:
        # peewee adds RETURNING if the database that the models are bound to has it. That may be another database than
        # this one, and with RETURNING, SQLite counts no rows.
        insert._returning = None
    sql, values = database.get_sql_context(dialect=dialect).sql(query).query()
    if isinstance(query, Locked) and dialect == "postgresql":
        _check_lock(sql)
    return Statement(sql, tuple(values), dialect, prepare=prepare)


def _check_lock(sql: str) -> None:
    """Raises `ValueError` for a lock that PostgreSQL may plan as a join with what a SELECT inside of it gives. At READ
    COMMITTED, it runs such a plan again for each row that another transaction has changed meanwhile. A join with
    several SELECTs (UNION ALL) does not find the row any more then. What `any_of` runs first stays as it is."""
    rest = sql
    while (
        shorter := _INNERMOST.sub(lambda group: "" if group[1] or "SELECT" not in group[2] else group[2], rest)
    ) != rest:
        rest = shorter
    if rest.count("SELECT") > 1:
        raise ValueError(f"a query that locks rows has to use any_of() for a SELECT inside of it: {sql}")


def _list_value(values: Collection[Any], dialect: str) -> Any:
    return orjson.dumps(list(values)).decode() if dialect == "sqlite" else list(values)


# -- words that differ between the databases ---------------------------------------------------------------------------


class _AnyOf(peewee.ColumnBase):
    def __init__(self, column: peewee.Node, values: peewee.Value | peewee.Query | Collection[Any]) -> None:
        self._column = column
        self._values = values

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        dialect = ctx.state.dialect
        if isinstance(self._values, peewee.Query):
            before, after = (" IN ", "") if dialect == "sqlite" else (" = ANY(ARRAY", ")")
            values: Any = self._values
        else:
            before, after = (" IN (SELECT value FROM json_each(", "))") if dialect == "sqlite" else (" = ANY(", ")")
            if isinstance(self._values, peewee.Value):
                values = Param(self._values.value.name, is_list=True)
            else:
                values = _list_value(self._values, dialect)
            values = peewee.Value(values, converter=False, unpack=False)
        ctx.literal("(").sql(self._column).literal(before).sql(values).literal(after + ")")
        return ctx


class Locked(peewee.Node):
    def __init__(self, query: peewee.Query, words: str) -> None:
        self._query = query
        self._words = words

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        ctx.sql(self._query)
        if ctx.state.dialect != "sqlite":
            ctx.literal(self._words)
        return ctx


class _Quotient(peewee.ColumnBase):
    def __init__(self, dividend: peewee.Node, divisor: peewee.Node) -> None:
        self._dividend = dividend
        self._divisor = divisor

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        before, between = ("(", " / ") if ctx.state.dialect == "sqlite" else ("DIV(", ", ")
        ctx.literal(before).sql(self._dividend).literal(between).sql(self._divisor).literal(")")
        return ctx


class _JSONList(peewee.ColumnBase):
    def __init__(self, *columns: peewee.Node, where: peewee.Node | None = None) -> None:
        self._columns = columns
        self._where = where

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        is_sqlite = ctx.state.dialect == "sqlite"
        of_row = fn.JSON_ARRAY if is_sqlite else fn.JSON_BUILD_ARRAY
        ctx.literal("JSON_GROUP_ARRAY(" if is_sqlite else "JSON_AGG(")
        ctx.sql(of_row(*self._columns) if len(self._columns) > 1 else self._columns[0]).literal(")")
        if self._where is not None:
            ctx.literal(" FILTER (WHERE ").sql(self._where).literal(")")
        return ctx if is_sqlite else ctx.literal("::TEXT")


class _TextList(peewee.ColumnBase):
    def __init__(self, column: peewee.Node) -> None:
        self._column = column

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        concat = fn.GROUP_CONCAT if ctx.state.dialect == "sqlite" else fn.STRING_AGG
        ctx.sql(concat(fn.COALESCE(Cast(self._column, "TEXT"), ""), ","))
        return ctx


class _Fingerprint(peewee.ColumnBase):
    def __init__(self, key: peewee.Node, *columns: peewee.Node) -> None:
        self._key, self._columns = key, columns

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        row: Any = Cast(self._key, "BIGINT")
        for column in self._columns:
            row = fn.HASHTEXTEXTENDED(Cast(column, "TEXT"), row)
        is_sqlite = ctx.state.dialect == "sqlite"
        ctx.sql(_JSONList(self._key, *self._columns) if is_sqlite else Cast(fn.SUM(row), "TEXT"))
        return ctx


json_list = _JSONList
"""The column's values in all rows of a group, as JSON. Columns of one group have the same order. Of several columns, a
list for each row. With `where`, of such rows only; NULL, or an empty list, if there are none. SQLite writes times with
15 digits at most."""
text_list = _TextList
"""Likewise of numbers, as text with commas between them, and nothing for NULL: to read it costs least."""
fingerprint = _Fingerprint
"""A text that stays the same as long as the rows of a group have the same values: first a unique number, and no NULL.
It is NULL for no rows. On PostgreSQL it is a sum of 64-bit hashes, for a quarter of what it takes to read the rows."""
quotient = _Quotient
"""The quotient of two amounts that are not negative, rounded down."""
any_of = _AnyOf
"""Whether the column's value is among these: a parameter that is a list, the values themselves, or a SELECT. PostgreSQL
runs such a SELECT first and looks up each of its values, rather than plan a join with it: it has to give few values."""


def lock(query: peewee.Query, *, of: str = "", skip_locked: bool = False) -> peewee.Node:
    """Returns the SELECT, keeping its rows locked until the transaction ends. On SQLite a writer is alone anyway. All
    locks are `compiled`, at the top of a module: there a test finds them, and sees that they lose no rows. `of` is the
    alias of the one table whose rows are locked; `skip_locked` leaves out rows that others have locked."""
    words = " FOR UPDATE" + (f" OF {of}" if of else "") + (" SKIP LOCKED" if skip_locked else "")
    return Locked(query, words)


def lock_but_not_key(query: peewee.Query) -> peewee.Node:
    """As `lock`, but others may go on adding rows that refer to these."""
    return Locked(query, " FOR NO KEY UPDATE")


def keep(query: peewee.Query) -> peewee.Node:
    """Returns the SELECT, keeping its rows from being deleted or renamed until the transaction ends."""
    return Locked(query, " FOR KEY SHARE")
