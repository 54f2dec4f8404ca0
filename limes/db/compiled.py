"""Queries on the models that are built once and then run with values.

Building a small query with peewee takes 0.1 to 0.4 ms, which is longer than many of them run. So queries are functions
of their parameters (`limes.db.query` has a shorter form), and built with the first use on each kind of database:

    _TRAITS_BY_NAME = Compiled(lambda p: Trait.select(Trait.id).where(any_of(Trait.name, p.names)))
    engine.all(_TRAITS_BY_NAME, TraitRow, names=["HW_CPU_X86_AVX"])

`p.names` stands for the value that is given by this name when the query runs. A list is one parameter (`any_of`), so
the text of a query never depends on its values, and PostgreSQL can keep its plan.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import peewee

if TYPE_CHECKING:
    Select = peewee.ModelSelect[Any]
else:
    Select = peewee.ModelSelect  # which is generic for type checkers only

Build = Callable[["Parameters"], peewee.Node]
BuildForRows = Callable[["Parameters", int], peewee.Node]
"""The second argument is the number of rows."""
Finish = Callable[[peewee.Insert], peewee.Node]
Condition = Callable[["Parameters"], peewee.ColumnBase]

_FEW_ROWS = 32
"""A statement is built once for each number of rows up to this. More rows are one value for PostgreSQL; for SQLite, the
statement is built each time, which takes less than running it."""


_INNERMOST = re.compile(r"(ARRAY|= )?\(([^()]*)\)")
"""What is between two parentheses. The first group is there if PostgreSQL runs a SELECT in them before all else."""


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class _RowValue:
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class _AllRows:
    """The values of all rows that are written, each row followed by these defaults."""

    defaults: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _RowsAsJSON:
    """All rows that are written, as one value: a list of objects with these keys."""

    keys: tuple[str, ...]

    def render(self, rows: Collection[Collection[Any]]) -> str:
        return orjson.dumps([dict(zip(self.keys, row, strict=True)) for row in rows]).decode()


class Parameters:
    def __getattr__(self, name: str) -> peewee.Value:
        return peewee.Value(Param(name), converter=False)


class Statement:
    __slots__ = ("_list_parameters", "_parameters", "dialect", "sql", "values")

    def __init__(self, sql: str, values: tuple[Any, ...], dialect: str) -> None:
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


class _StatementForRows(Statement):
    __slots__ = ()

    def bind(self, values: Mapping[str, Any]) -> list[Any]:
        bound: list[Any] = []
        for value in super().bind(values):
            if isinstance(value, _AllRows):
                for row in values["rows"]:
                    bound += (*row, *value.defaults)
            elif isinstance(value, _RowsAsJSON):
                bound.append(value.render(values["rows"]))
            elif isinstance(value, _RowValue):
                bound.append(values["rows"][value.row][value.column])
            else:
                bound.append(value)
        return bound


class Compiled:
    """Safe to use from many threads."""

    __slots__ = ("_build", "_statements", "prepare")

    def __init__(self, build: Build, *, prepare: bool = False) -> None:
        """`build` must not depend on anything but its parameters."""
        self.prepare = prepare
        """Whether PostgreSQL plans it only once for each connection: for SELECTs that are asked often outside of
        transactions."""
        self._build = build
        self._statements: dict[str, Statement] = {}

    def statement(self, dialect: str, database: peewee.Database, values: Mapping[str, Any]) -> Statement:
        """Returns the query for `sqlite` or `postgresql`, built once. Its text does not depend on `values`."""
        statement = self._statements.get(dialect)
        if statement is None:
            statement = self._statements[dialect] = compile_query(self._build(Parameters()), dialect, database)
        return statement


class CompiledForRows:
    """A query with the values of any number of rows in it, which come as the value `rows`. Built once for each small
    number of them."""

    __slots__ = ("_build", "_statements", "prepare")

    def __init__(self, build: BuildForRows) -> None:
        self.prepare = False
        self._build = build
        self._statements: dict[tuple[str, int], Statement] = {}

    def statement(self, dialect: str, database: peewee.Database, values: Mapping[str, Any]) -> Statement:
        count = len(values["rows"])
        statement = self._statements.get((dialect, count))
        if statement is None:
            query = compile_query(self._build(Parameters(), count), dialect, database)
            statement = _StatementForRows(query.sql, query.values, dialect)
            if count <= _FEW_ROWS:
                self._statements[dialect, count] = statement
        return statement


def compiled_insert(model: type[peewee.Model], *fields: peewee.Field, finish: Finish | None = None) -> CompiledForRows:
    """Returns an INSERT of rows of these fields. `finish` adds the clauses after them, such as `on_conflict`."""

    def build(_: Parameters, count: int) -> peewee.Node:
        named_fields = set(fields)  # fields are compared by hash: `==` makes an expression of them
        defaults = {field: value for field, value in model._meta.defaults.items() if field not in named_fields}
        insert = model.insert_from(_Rows(fields, defaults, count), [*fields, *defaults])
        return insert if finish is None else finish(insert)

    return CompiledForRows(build)


class _Rows(peewee.SQL):
    """`VALUES (...), (...)`. With a node for each value, as peewee does it, a row takes 30 us. PostgreSQL reads many
    rows from one JSON value instead: it parses thousands of values in half the time."""

    def __init__(self, fields: Collection[peewee.Field], defaults: Mapping[peewee.Field, Any], count: int) -> None:
        super().__init__("")
        self._fields = tuple(fields)
        self._defaults = tuple(defaults.values())
        self._count = count

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        mark = ctx.state.param or "?"
        if ctx.state.dialect == "postgresql" and self._count > _FEW_ROWS:
            names = tuple(field.column_name for field in self._fields)
            columns = [*(f'"new"."{name}"' for name in names), *[mark] * len(self._defaults)]
            table = self._fields[0].model._meta.table_name
            # SQL text: peewee has no words for a function that gives rows of a table
            ctx.literal("SELECT ").literal(", ".join(columns))
            ctx.literal(f' FROM json_populate_recordset(NULL::"{table}", {mark}) AS "new"')
            for value in (*self._defaults, _RowsAsJSON(names)):
                ctx.value(value, False, add_param=False)
            return ctx
        marks = [mark] * (len(self._fields) + len(self._defaults))
        ctx.literal("VALUES " + ", ".join([f"({', '.join(marks)})"] * self._count))
        ctx.value(_AllRows(self._defaults), False, add_param=False)
        return ctx


def compiled_update(key: peewee.Field, field: peewee.Field, condition: Condition) -> CompiledForRows:
    """Returns an UPDATE that gives each row a value of its own: the rows are pairs of a key and the field's new value.
    `condition` says, with its parameters, among which rows of the table the keys are to be found."""

    def build(p: Parameters, count: int) -> peewee.Node:
        keys, values = (
            [peewee.Value(_RowValue(row, column), converter=False) for row in range(count)] for column in (0, 1)
        )
        new_value = peewee.Case(key, list(zip(keys, values, strict=True)))
        query: peewee.Node = field.model.update({field: new_value}).where(condition(p), key.in_(keys))
        return query

    return CompiledForRows(build)


def compile_query(query: peewee.Node, dialect: str, database: peewee.Database) -> Statement:
    insert: Any = query if isinstance(query, peewee.ModelInsert) else None
    if insert is not None and insert._row_type is None:
        # peewee adds RETURNING if the database that the models are bound to has it. That may be another database than
        # this one, and with RETURNING, SQLite counts no rows.
        insert._returning = None
    sql, values = database.get_sql_context(dialect=dialect).sql(query).query()
    if isinstance(query, Locked) and dialect == "postgresql":
        _check_lock(sql)
    return Statement(sql, tuple(values), dialect)


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
    def __init__(self, column: peewee.Node) -> None:
        self._column = column

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        before, after = ("JSON_GROUP_ARRAY(", ")") if ctx.state.dialect == "sqlite" else ("JSON_AGG(", ")::TEXT")
        ctx.literal(before).sql(self._column).literal(after)
        return ctx


json_list = _JSONList
"""The column's values in all rows of a group, as JSON. Columns of one group have the same order."""
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
