"""The types of a query's columns, and whether they may be NULL, as far as they follow from the models."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import peewee

from limes.db.compiled import Locked, Param

_TYPES: dict[type[peewee.Field], type] = {
    peewee.BooleanField: bool,
    peewee.IntegerField: int,
    peewee.BigIntegerField: int,
    peewee.FloatField: float,
    peewee.TextField: str,
    peewee.CharField: str,
}
_TRUTHS = {"=", "!=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT", "IN", "NOT IN", "AND", "OR", "LIKE", "ILIKE"}
_NEVER_NULL = {"COUNT", "ROW_NUMBER", "EXISTS"}
_AGGREGATES = {"SUM", "MIN", "MAX", "AVG"}
_ARITHMETIC = {"+", "-", "*", "/", "%", "||"}


class Column(NamedTuple):
    """What a column may hold. `type` is None if it does not follow from the query."""

    type: type | None
    may_be_null: bool


class _Scope(NamedTuple):
    query: Any
    outer: frozenset[Hashable]
    """Tables that may be missing, because of a LEFT JOIN."""
    present: frozenset[Hashable]
    """Columns and expressions that the conditions keep from being NULL."""


def columns_of(query: Any) -> list[Column]:
    """The columns of a SELECT, or of what a statement returns."""
    if isinstance(query, Locked):
        query = query._query
    if isinstance(query, peewee.CompoundSelectQuery):
        return [_either(pair) for pair in zip(columns_of(query.lhs), columns_of(query.rhs), strict=True)]
    if isinstance(query, peewee.ModelInsert) and query._row_type is None:
        return []  # the engine asks for no rows then
    scope = _scope(query)
    return [_column(node, scope) for node in _selected(query)]


def _selected(query: Any) -> Iterable[Any]:
    for node in query._returning or ():
        if isinstance(node, peewee.ModelBase | peewee.ModelAlias):
            yield from (node._meta.sorted_fields if isinstance(node, peewee.ModelBase) else node.get_field_aliases())
        else:
            yield node


def _either(columns: Iterable[Column]) -> Column:
    found = list(columns)
    types = {one.type for one in found}
    return Column(types.pop() if len(types) == 1 else None, any(one.may_be_null for one in found))


# -- tables and conditions -----------------------------------------------------------------------------------------


def _scope(query: Any) -> _Scope:
    conditions = [query._where]
    if isinstance(query, peewee.SelectBase):
        conditions.append(query._having)
    outer: set[Hashable] = set()
    for source in getattr(query, "_from_list", None) or ():
        outer |= set(_missing(source, conditions))
    present = {key for condition in conditions for key in _present(condition)}
    return _Scope(query, frozenset(outer), frozenset(present))


def _missing(source: Any, conditions: list[Any]) -> Iterator[Hashable]:
    """Tables that a LEFT JOIN may not find. The conditions of other joins count as such of the query."""
    if not isinstance(source, peewee.Join):
        return
    yield from _missing(source.lhs, conditions)
    yield from _missing(source.rhs, conditions)
    if source.join_type in ("LEFT OUTER JOIN", "LEFT OUTER", "LEFT JOIN", "FULL", "FULL OUTER"):
        yield from _tables(source.rhs)
    else:
        conditions.append(source._on)
    if source.join_type in ("FULL", "FULL OUTER", "RIGHT OUTER", "RIGHT OUTER JOIN"):
        yield from _tables(source.lhs)


def _tables(source: Any) -> Iterator[Hashable]:
    if isinstance(source, peewee.Join):
        yield from _tables(source.lhs)
        yield from _tables(source.rhs)
    else:
        yield id(source)


def _present(condition: Any) -> set[Hashable]:
    """Columns and expressions that are not NULL where the condition holds."""
    if hasattr(condition, "_column") and hasattr(condition, "_values"):  # any_of
        return {_key(condition._column)}
    if isinstance(condition, peewee.Negated):
        return _present(condition.node) if not isinstance(condition.node, peewee.Expression) else set()
    if not isinstance(condition, peewee.Expression):
        return set()
    if condition.op == "AND":
        return _present(condition.lhs) | _present(condition.rhs)
    if condition.op == "OR":
        return _present(condition.lhs) & _present(condition.rhs)
    if condition.op == "IS":
        return set()
    return {key for side in (condition.lhs, condition.rhs) for key in _operands(side)}


def _operands(node: Any) -> Iterator[Hashable]:
    yield _key(node)
    if isinstance(node, peewee.Expression) and node.op in _ARITHMETIC:
        yield from _operands(node.lhs)
        yield from _operands(node.rhs)


def _key(node: Any) -> Hashable:
    if isinstance(node, peewee.FieldAlias):
        return id(node.source), node.field.column_name
    if isinstance(node, peewee.Field):
        return id(node.model), node.column_name
    if isinstance(node, peewee.Column):
        return id(node.source), node.name
    return id(node)


# -- expressions -------------------------------------------------------------------------------------------------------


def _column(node: Any, scope: _Scope) -> Column:
    found = _plain(node, scope)
    return found._replace(may_be_null=found.may_be_null and _key(node) not in scope.present)


def _plain(node: Any, scope: _Scope) -> Column:
    if isinstance(node, peewee.FieldAlias):
        return _field(node.field, node.source, scope)
    if isinstance(node, peewee.Field):
        return _field(node, node.model, scope)
    if isinstance(node, peewee.Column):
        return _of_subquery(node, scope)
    if isinstance(node, peewee.Value):
        is_known = not isinstance(node.value, Param) and node.value is not None
        return Column(type(node.value) if is_known else None, node.value is None)
    if isinstance(node, peewee.NodeList):  # a function with OVER
        return _column(node.nodes[0], scope)
    if isinstance(node, peewee.WrappedNode) and not isinstance(node, peewee.Cast):
        return _column(node.node, scope)
    return _computed(node, scope)


def _computed(node: Any, scope: _Scope) -> Column:
    if isinstance(node, peewee.Case):
        columns = [
            _value(value, scope._replace(present=scope.present | _present(condition)))
            for condition, value in node.expression_tuples
        ]
        columns.append(_value(node.default, scope))
        return Column(_one_type(columns), any(one.may_be_null for one in columns))
    if isinstance(node, peewee.Function):
        return _function(node, scope)
    if isinstance(node, peewee.Expression):
        return _expression(node, scope)
    if isinstance(node, peewee.SelectBase):  # a value of its own: there may be no row
        (column,) = columns_of(node)
        return column._replace(may_be_null=column.may_be_null or not _always_has_a_row(node))
    if hasattr(node, "_dividend"):  # quotient
        both = (_value(node._dividend, scope), _value(node._divisor, scope))
        return Column(int, any(one.may_be_null for one in both))
    if hasattr(node, "_values"):  # any_of
        return Column(bool, _value(node._column, scope).may_be_null)
    return Column(None, False)


def _always_has_a_row(query: Any) -> bool:
    (node,) = _selected(query)
    while isinstance(node, peewee.Alias | peewee.Function):
        if isinstance(node, peewee.Function):
            if node.name.upper() in _AGGREGATES | {"COUNT"}:
                return not query._group_by
            node = node.arguments[0]
        else:
            node = node.node
    return False


def _value(node: Any, scope: _Scope) -> Column:
    return _column(node if isinstance(node, peewee.Node) else peewee.Value(node), scope)


def _one_type(columns: Iterable[Column]) -> type | None:
    types = {one.type for one in columns} - {None}
    return float if types == {int, float} else types.pop() if len(types) == 1 else None


def _field(field: peewee.Field, source: Any, scope: _Scope) -> Column:
    type_ = _type(field.rel_field if isinstance(field, peewee.ForeignKeyField) else field)
    return Column(type_, field.null or id(source) in scope.outer)


def _type(field: peewee.Field) -> type | None:
    return next((_TYPES[each] for each in type(field).__mro__ if each in _TYPES), None)


def _of_subquery(column: peewee.Column, scope: _Scope) -> Column:
    source = column.source
    query = source._query if isinstance(source, peewee.CTE) else source
    if not isinstance(query, peewee.SelectBase):
        return Column(None, False)
    first = query
    while isinstance(first, peewee.CompoundSelectQuery):
        first = first.lhs
    names = [_name(node) for node in _selected(first)]
    found = columns_of(query)[names.index(column.name)]
    return found._replace(may_be_null=found.may_be_null or id(source) in scope.outer)


def _name(node: Any) -> str:
    if alias := getattr(node, "_alias", None):
        return str(alias)
    field = node.field if isinstance(node, peewee.FieldAlias) else node
    return str(getattr(field, "column_name", getattr(field, "name", "")))


def _function(node: peewee.Function, scope: _Scope) -> Column:
    name = node.name.upper()
    arguments = [_value(each, scope) for each in node.arguments]
    if name in _NEVER_NULL:
        return Column(bool if name == "EXISTS" else int, False)
    if name == "COALESCE":
        return Column(_one_type(arguments), all(one.may_be_null for one in arguments))
    if name in _AGGREGATES:
        is_grouped = bool(getattr(scope.query, "_group_by", None))
        return Column(_one_type(arguments[:1]), not is_grouped or arguments[0].may_be_null)
    if name in ("LEAST", "GREATEST", "ABS", "NULLIF"):
        return Column(_one_type(arguments), name == "NULLIF" or any(one.may_be_null for one in arguments))
    return Column(None, False)


def _expression(node: peewee.Expression, scope: _Scope) -> Column:
    sides = [_value(each, scope) for each in (node.lhs, node.rhs)]
    if node.op in ("IS", "IS NOT"):
        return Column(bool, False)
    may_be_null = any(one.may_be_null for one in sides)
    if node.op in _TRUTHS:
        return Column(bool, may_be_null)
    return Column(_one_type(sides), may_be_null)
