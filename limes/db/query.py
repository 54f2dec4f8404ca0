"""A query is a function: its body says it in the words of the models, its decorator what comes back.

    @rows(TraitRow)
    def traits_by_name(names: Collection[str]) -> Node:
        \"\"\"Traits that exist.\"\"\"
        return Trait.select(Trait.id, Trait.name).where(any_of(Trait.name, names))

The body runs once for each kind of database (`limes.db.compiled`), with marks instead of values, so it uses its
arguments in expressions of the query only. A list is one argument (`any_of`). What has few values comes as it is: a
`bool`, a `Literal` or an enum, and None. The body runs once for each of them, so it may choose by them what the query
looks like. Of a `NamedTuple`, this holds for each field.
"""

import typing
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from enum import EnumType
from functools import partial, update_wrapper
from inspect import Parameter, signature
from itertools import product
from operator import attrgetter, itemgetter, methodcaller
from sys import maxsize
from types import NoneType
from typing import Any, Generic, Literal, NamedTuple, ParamSpec, TypedDict, TypeVar, Unpack

import peewee

from limes.db.compiled import Compiled, Parameters
from limes.db.compiled_rows import Finish, compiled_insert
from limes.db.engine import Engine

Node = peewee.Node
P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K")
L = TypeVar("L")
V = TypeVar("V")
R = TypeVar("R", bound=NamedTuple)
New = TypeVar("New", bound=tuple[Any, ...])
Row = tuple[Any, ...]
Build = Callable[P, Node]
Values = dict[str, Any]
_MARK = object()
"""Stands for all values that the body does not get."""


class Options(TypedDict, total=False):
    prepare: bool
    """For statements that run often: PostgreSQL plans them only once for each connection."""
    skip_empty: str
    """The database is not asked if the argument of this name is empty: there would be nothing."""


class Query(Generic[P, T]):
    """Called with an engine and the arguments of the function that it was made of."""

    def __init__(
        self,
        build: Build[P],
        read: Callable[[Engine, Compiled, Values], T],
        row: Any,
        *,
        prepare: bool = False,
        skip_empty: str = "",
        nothing: Callable[[], Any] = list,
    ) -> None:
        parameters = signature(build).parameters
        assert not skip_empty or skip_empty in parameters, skip_empty
        self._build, self._read, self._skip_empty, self._nothing = build, read, skip_empty, nothing
        self._names = tuple(parameters)
        self._defaults = {name: one.default for name, one in parameters.items() if one.default is not Parameter.empty}
        kinds = {name: one.annotation for name, one in parameters.items()}
        self._tuples = {name: kind for name, kind in kinds.items() if hasattr(kind, "_fields")}
        for name, kind in self._tuples.items():
            kinds |= {f"{name}.{field}": hint for field, hint in typing.get_type_hints(kind).items()}
        self._few = {name: few for name, kind in kinds.items() if (few := _few_values(kind))}
        each = product(*self._few.values())
        self.variants = {chosen: Compiled(partial(self._marked, chosen), prepare=prepare) for chosen in each}
        """The query for all combinations of what has few values."""
        self._only = None if self._few or self._tuples else self.variants[()]
        self.row = row
        """The columns that it gives: a NamedTuple, or a tuple of types. None for what writes."""
        update_wrapper(self, build)

    def __call__(self, engine: Engine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs it. Raises `KeyError` for an argument without a value."""
        values: Values = dict(zip(self._names, args))  # noqa: B905 - `strict` takes as long again
        if len(values) < len(self._names):
            values = {**self._defaults, **values, **kwargs}
        if self._skip_empty and not values[self._skip_empty]:
            return self._nothing()  # type: ignore[no-any-return]  # an empty T, which has no type of its own
        return self._read(engine, self._only or self._variant(values), values)

    def _variant(self, values: Values) -> Compiled:
        for name in self._tuples:
            values |= {f"{name}.{field}": value for field, value in values[name]._asdict().items()}
        return self.variants[tuple(values[name] if values[name] in few else _MARK for name, few in self._few.items())]

    def _marked(self, chosen: tuple[Any, ...], p: Parameters) -> Node:
        known = {name: one for name, one in zip(self._few, chosen, strict=True) if one is not _MARK}

        def given(name: str) -> Any:
            if name in self._tuples:
                return self._tuples[name](*[given(f"{name}.{field}") for field in self._tuples[name]._fields])
            return known[name] if name in known else getattr(p, name)

        return self._build(**{name: given(name) for name in self._names})  # type: ignore[call-arg]  # marks, not values


def _few_values(annotation: Any) -> tuple[Any, ...]:
    if annotation is bool:
        return False, True
    if isinstance(annotation, EnumType):
        return tuple(annotation)
    if typing.get_origin(annotation) is Literal:
        return typing.get_args(annotation)
    return (None, _MARK) if NoneType in typing.get_args(annotation) else ()


# -- rows --------------------------------------------------------------------------------------------------------------


def _fetch(make: Callable[[list[Any]], T], row: Any, options: Options) -> Callable[[Build[P]], Query[P, T]]:
    """Gives what `make` makes of the rows; of none, if the database is not asked."""

    def read(engine: Engine, query: Compiled, values: Values) -> T:
        return make(engine.fetch(query, values))

    return lambda build: Query(build, read, row, **options, nothing=lambda: make([]))


def _all(kind: type[R], make: Callable[[list[R]], T], options: Options) -> Callable[[Build[P]], Query[P, T]]:
    of_kind = partial(tuple.__new__, kind)  # half of the time of `kind._make`
    return _fetch(lambda found: make([*map(of_kind, found)]), kind, options)


def _column(make: Callable[[list[Any]], T], kind: Any, options: Options) -> Callable[[Build[P]], Query[P, T]]:
    return _fetch(lambda found: make([value for (value,) in found]), (kind,), options)


def _as_they_are(found: list[Any]) -> list[Any]:
    return found


def rows(kind: type[R], **options: Unpack[Options]) -> Callable[[Build[P]], Query[P, list[R]]]:
    """Gives all rows, whose columns are the fields of `kind`."""
    return _all(kind, _as_they_are, options)


def keyed(
    key: type[K], field: str, kind: type[R], **options: Unpack[Options]
) -> Callable[[Build[P]], Query[P, dict[K, R]]]:
    """As `rows`, each by its value of a field."""
    key_of = attrgetter(field)
    return _all(kind, lambda found: {key_of(row): row for row in found}, options)


def grouped(
    key: type[K], field: str, kind: type[R], **options: Unpack[Options]
) -> Callable[[Build[P]], Query[P, dict[K, list[R]]]]:
    """As `rows`, those with the same value of a field together; nothing for a value that no row has."""
    key_of = attrgetter(field)
    return _all(kind, lambda found: _grouped((key_of(row), row) for row in found), options)


def _grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    groups = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def first(kind: type[R], *, prepare: bool = False) -> Callable[[Build[P]], Query[P, R | None]]:
    def read(engine: Engine, query: Compiled, values: Values) -> R | None:
        return engine.first(query, kind, **values)

    return lambda build: Query(build, read, kind, prepare=prepare)


def stream(kind: type[T]) -> Callable[[Build[P]], Query[P, Generator[T, None, None]]]:
    """As `tuples`, fetched in chunks, so that a large result never stands in memory whole. Inside a transaction."""

    def read(engine: Engine, query: Compiled, values: Values) -> Generator[Any, None, None]:
        return engine.stream(query, tuple, **values)

    return lambda build: Query(build, read, typing.get_args(kind))


def tuples(kind: type[T], **options: Unpack[Options]) -> Callable[[Build[P]], Query[P, list[T]]]:
    """Gives all rows as plain tuples: `tuples(tuple[int, str])`."""
    return _fetch(_as_they_are, typing.get_args(kind), options)


def made(make: Callable[..., T], *columns: Any, **options: Unpack[Options]) -> Callable[[Build[P]], Query[P, list[T]]]:
    """Gives what `make` makes of the columns of each row, which are of these types."""
    return _fetch(lambda found: [make(*row) for row in found], columns, options)


def mapping(key: type[K], value: type[V], **options: Unpack[Options]) -> Callable[[Build[P]], Query[P, dict[K, V]]]:
    """Gives values by keys. Either may be of several columns, and keys come first: `mapping(tuple[int, str], int)`."""
    keys, values = _parts_of(key, value)
    return _fetch(lambda found: dict(zip(keys(found), values(found), strict=True)), columns_of(key, value), options)


def made_by(
    key: type[K], make: Callable[..., V], *columns: Any, **options: Unpack[Options]
) -> Callable[[Build[P]], Query[P, dict[K, V]]]:
    """As `mapping`, of what `make` makes of the other columns, which are of these types."""
    (keys,), of_key = _parts_of(key), columns_of(key)
    width = len(of_key)

    def by_key(found: list[Row]) -> dict[K, V]:
        return {key: make(*row[width:]) for key, row in zip(keys(found), found, strict=True)}

    return _fetch(by_key, of_key + columns, options)


def collected(key: type[K], value: type[V]) -> Callable[[Build[P]], Query[P, dict[K, list[V]]]]:
    """As `mapping`, with all values of a key."""
    keys, values = _parts_of(key, value)
    return _fetch(
        lambda found: dict(_grouped(zip(keys(found), values(found), strict=True))), columns_of(key, value), {}
    )


def nested(
    key: type[K], inner: type[L], value: type[V], **options: Unpack[Options]
) -> Callable[[Build[P]], Query[P, dict[K, dict[L, V]]]]:
    """As `mapping`, by one key and then another; nothing for a key that no row has."""
    parts = tuple(_parts_of(key, inner, value))

    def make(found: list[Row]) -> dict[K, dict[L, V]]:
        by_key: dict[K, dict[L, V]] = defaultdict(dict)
        for outer_key, inner_key, one in zip(*(part(found) for part in parts), strict=True):
            by_key[outer_key][inner_key] = one
        return by_key

    return _fetch(make, columns_of(key, inner, value), options)


def distinct(kind: type[T], **options: Unpack[Options]) -> Callable[[Build[P]], Query[P, set[T]]]:
    return _column(set, kind, options)


def column(kind: type[T], **options: Unpack[Options]) -> Callable[[Build[P]], Query[P, list[T]]]:
    return _column(_as_they_are, kind, options)


def value(kind: type[T], **options: Unpack[Options]) -> Callable[[Build[P]], Query[P, T]]:
    """Gives the value of one column in one row, which there always is: a sum, or the id of a new row."""

    def only(found: list[Any]) -> T:
        (one,) = found
        return one  # type: ignore[no-any-return]  # a test compares T with what the databases give

    return _column(only, kind, options)


def first_value(kind: type[T], *, prepare: bool = False) -> Callable[[Build[P]], Query[P, T | None]]:
    """Gives the value of one column in the first row; None if there is no row, or if it is NULL."""
    return _column(lambda found: next(iter(found), None), kind | None, {"prepare": prepare})


def exists(build: Build[P]) -> Query[P, bool]:
    return _fetch(bool, (Any,), {})(build)


def columns_of(*kinds: Any) -> tuple[Any, ...]:
    """Returns the types of the columns that values of these types are made of: a NamedTuple or a tuple of several."""
    columns: list[Any] = []
    for kind in kinds:
        if hasattr(kind, "_fields"):
            columns += typing.get_type_hints(kind).values()
        else:
            columns += typing.get_args(kind) if typing.get_origin(kind) is tuple else [kind]
    return tuple(columns)


def _parts_of(*kinds: Any) -> Iterator[Callable[[list[Row]], Iterator[Any]]]:
    """Yields what gives a value of each of these types for each row, in which their columns follow each other."""
    start = 0
    for kind in kinds:
        end = start + len(columns_of(kind))
        is_named = hasattr(kind, "_fields")
        columns = itemgetter(slice(start, end) if is_named or typing.get_origin(kind) is tuple else start)
        yield partial(_named, partial(tuple.__new__, kind), columns) if is_named else partial(map, columns)
        start = end


def _named(of_kind: Callable[[Row], Any], columns: Callable[[Row], Row], found: list[Row]) -> Iterator[Any]:
    return map(of_kind, map(columns, found))


# -- writes ------------------------------------------------------------------------------------------------------------


def _write(engine: Engine, query: Compiled, values: Values) -> int:
    return engine.write(query, **values)


def writes(build: Build[P]) -> Query[P, int]:
    """Gives the number of rows that an INSERT, UPDATE or DELETE has touched."""
    return writes_for("")(build)


def writes_for(argument: str = "", *, prepare: bool = False) -> Callable[[Build[P]], Query[P, int]]:
    """As `writes`. The database is not asked if the argument of this name, if any, is empty."""
    return lambda build: Query(build, _write, None, prepare=prepare, skip_empty=argument, nothing=int)


def locks(build: Build[P]) -> Query[P, int]:
    """Gives the number of rows that a SELECT has locked. It is sent like what is written (`Batch.collect`)."""
    return Query(build, _write, (Any,))


class Insert(Generic[New]):
    """Called with an engine and rows, which it stores. Gives how many it has stored."""

    def __init__(
        self,
        kind: type[New],
        model: type[peewee.Model],
        *fields: peewee.Field,
        key: int = 0,
        keep: bool = False,
        at_once: int = maxsize,
        finish: Finish | None = None,
        prepare: bool = False,
    ) -> None:
        """`kind` is a NamedTuple whose fields name columns of the model, or a tuple of the values of `fields`. With a
        `key`, that number of first columns identifies a row: if it exists, it gets the values of the
        others, or stays as it is (`keep`). `finish` adds something else that follows: `on_conflict_ignore`. One
        statement stores `at_once` rows at most."""
        fields = fields or tuple(model._meta.columns[name] for name in kind._fields)  # type: ignore[attr-defined]  # a NamedTuple's
        if key and keep:
            finish = methodcaller("on_conflict", "NOTHING", conflict_target=fields[:key])
        elif key:
            finish = methodcaller("on_conflict", conflict_target=fields[:key], preserve=fields[key:])
        self.compiled = compiled_insert(model, *fields, finish=finish, prepare=prepare)
        self._at_once = at_once

    def __call__(self, engine: Engine, new: Sequence[New]) -> int:
        starts = range(0, len(new), self._at_once)
        return sum(engine.write(self.compiled, rows=new[start : start + self._at_once]) for start in starts)
