"""Compiled statements that write any number of rows. These come as the value `rows`."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import orjson
import peewee
from msgspec import Struct

from limes.db.compiled import Parameters, Statement, compile_query

BuildForRows = Callable[[Parameters, int], peewee.Node]
"""The second argument is the number of rows."""
Finish = Callable[[peewee.Insert], peewee.Node]
Condition = Callable[[Parameters], peewee.ColumnBase]
Changes = Callable[[Parameters], dict[Any, Any]]
_PREPARED_ROWS = 4
_MANY_ROWS = 33
"""A statement is built once for each number of rows below this. So many or more are one value for PostgreSQL; for
SQLite, the statement is built each time, which takes less than running it."""


class _AllRows(Struct, frozen=True):
    """The values of all rows that are written, each row followed by these defaults."""

    width: int
    """Columns that each row brings."""
    defaults: tuple[Any, ...]


class _RowsAsJSON(Struct, frozen=True):
    """All rows that are written, as one value: a list of objects with these keys."""

    keys: tuple[str, ...]

    def render(self, rows: Collection[Collection[Any]]) -> str:
        return orjson.dumps([dict(zip(self.keys, row, strict=True)) for row in rows]).decode()


class _StatementForRows(Statement):
    __slots__ = ("_count",)

    def __init__(self, sql: str, values: tuple[Any, ...], dialect: str, *, count: int, prepare: bool) -> None:
        super().__init__(sql, values, dialect, prepare=prepare and count <= _PREPARED_ROWS)
        self._count = count

    def _behind_marks(self) -> list[Any]:
        marks: list[Any] = []
        for value in self.values:
            is_all = isinstance(value, _AllRows)
            marks += [*[value] * value.width, *value.defaults] * self._count if is_all else [value]
        return marks

    def bind(self, values: Mapping[str, Any]) -> list[Any]:
        bound: list[Any] = []
        for value in super().bind(values):
            if isinstance(value, _AllRows):
                for row in values["rows"]:
                    bound += (*row, *value.defaults)
            elif isinstance(value, _RowsAsJSON):
                bound.append(value.render(values["rows"]))
            else:
                bound.append(value)
        return bound


class CompiledForRows:
    """A query with the values of any number of rows in it, which come as the value `rows`. Built once for each small
    number of them."""

    __slots__ = ("_build", "_statements", "prepare")

    def __init__(self, build: BuildForRows, *, prepare: bool = False) -> None:
        """With `prepare`, it is, for very few rows."""
        self.prepare = prepare
        self._build = build
        self._statements: dict[tuple[str, int], Statement] = {}

    def statement(self, dialect: str, database: peewee.Database, values: Mapping[str, Any]) -> Statement:
        count = len(values["rows"])
        number = min(count, _MANY_ROWS) if dialect == "postgresql" else count
        statement = self._statements.get((dialect, number))
        if statement is None:
            query = compile_query(self._build(Parameters(), count), dialect, database)
            statement = _StatementForRows(query.sql, query.values, dialect, count=count, prepare=self.prepare)
            if number <= _MANY_ROWS:
                self._statements[dialect, number] = statement
        return statement


def compiled_insert(
    model: type[peewee.Model], *fields: peewee.Field, finish: Finish | None = None, prepare: bool = False
) -> CompiledForRows:
    """Returns an INSERT of rows of these fields. `finish` adds the clauses after them, such as `on_conflict`."""

    def build(_: Parameters, count: int) -> peewee.Node:
        named_fields = set(fields)  # fields are compared by hash: `==` makes an expression of them
        defaults = {field: value for field, value in model._meta.defaults.items() if field not in named_fields}
        insert = model.insert_from(_Rows(fields, defaults, count), [*fields, *defaults])
        return insert if finish is None else finish(insert)

    return CompiledForRows(build, prepare=prepare)


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
        if ctx.state.dialect == "postgresql" and self._count >= _MANY_ROWS:
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
        ctx.value(_AllRows(len(self._fields), self._defaults), False, add_param=False)
        return ctx


def new_value(field: peewee.Field) -> peewee.SQL:
    """The value that a row of `compiled_update` has for its field."""
    return peewee.SQL(f'"new"."{field.column_name}"')


def compiled_update(
    key: peewee.Field, *fields: peewee.Field, condition: Condition, also: Changes | None = None, prepare: bool = False
) -> CompiledForRows:
    """Returns an UPDATE that gives each row values of its own: the rows are a key and the new values of the fields.
    `condition` says, with its parameters, among which rows of the table the keys are to be found. `also` gives, with
    its parameters, what else changes in all of these rows, or in another way."""

    model: Any = key.model

    def build(p: Parameters, _: int) -> peewee.Node:
        changes = {field: new_value(field) for field in fields} | (also(p) if also else {})
        query: peewee.Node = (
            model.update(changes).from_(_NewRows(key, *fields)).where(key == new_value(key), condition(p))
        )
        return query

    return CompiledForRows(build, prepare=prepare)


class _NewRows(peewee.SQL):
    """A table of rows, which are one value: its text does not depend on how many there are."""

    def __init__(self, *fields: peewee.Field) -> None:
        super().__init__("")
        self._table = fields[0].model._meta.table_name
        self._names = tuple(field.column_name for field in fields)

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        mark = ctx.state.param or "?"
        # SQL text: peewee has no words for a function that gives rows of a table
        if ctx.state.dialect == "postgresql":
            ctx.literal(f'json_populate_recordset(NULL::"{self._table}", {mark}) AS "new"')
        else:
            columns = ", ".join(f"json_extract(value, '$.{name}') AS \"{name}\"" for name in self._names)
            ctx.literal(f'(SELECT {columns} FROM json_each({mark})) AS "new"')  # noqa: S608 - our own names
        ctx.value(_RowsAsJSON(self._names), False, add_param=False)
        return ctx
