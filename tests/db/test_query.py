"""Queries as decorated functions."""

from collections.abc import Collection
from typing import Any, Literal, NamedTuple

import pytest

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Insert, Node, collected, distinct, made, mapping, nested, rows, writes_for
from limes.placement.migrations import placement_migrations
from limes.placement.models import Trait


class Row(NamedTuple):
    id: int
    name: str


class Range(NamedTuple):
    order: Literal["up", "down"]
    above: int


add = Insert(tuple[int, str, float], Trait, Trait.id, Trait.name, Trait.updated, key=1, keep=True, at_once=2)
replace = Insert(tuple[int, str, float], Trait, Trait.id, Trait.name, Trait.updated, key=1)


@rows(Row)
def found(name: str | None = None, *, backwards: bool) -> Node:
    query = Trait.select(Trait.id, Trait.name)
    query = query if name is None else query.where(Trait.name == name)
    return query.order_by(Trait.id.desc() if backwards else Trait.id)


@mapping(Row, float)
def within(ids: Range) -> Node:
    query = Trait.select(Trait.id, Trait.name, Trait.updated).where(Trait.id > ids.above)
    return query.order_by(Trait.id if ids.order == "up" else Trait.id.desc())


@made(lambda id_, name: f"{id_}: {name}", int, str)
def texts() -> Node:
    return Trait.select(Trait.id, Trait.name).order_by(Trait.id)


@collected(float, Row)
def by_time() -> Node:
    return Trait.select(Trait.updated, Trait.id, Trait.name).order_by(Trait.id)


@nested(float, tuple[int, str], int)
def nested_by_time() -> Node:
    return Trait.select(Trait.updated, Trait.id, Trait.name, Trait.id)


@distinct(float)
def times() -> Node:
    return Trait.select(Trait.updated)


@writes_for("ids")
def delete(ids: Collection[int]) -> Node:
    return Trait.delete().where(any_of(Trait.id, ids))


@pytest.fixture
def traits(database_url_with: Any) -> Any:
    """An engine on a database with three traits."""
    engine = Engine(database_url_with(placement_migrations))
    assert add(engine, [(1, "A", 1.0), (2, "B", 1.0), (3, "C", 2.0)]) == 3
    yield engine
    engine.close()


def test_the_body_sees_what_has_few_values(traits: Engine) -> None:
    assert found(traits, backwards=True) == [(3, "C"), (2, "B"), (1, "A")]
    assert [found(traits, name, backwards=False) for name in ("B", "D", None)] == [
        [Row(2, "B")], [], [(1, "A"), (2, "B"), (3, "C")],
    ]  # fmt: skip
    assert len(found.variants) == 4


def test_the_fields_of_a_tuple_are_arguments(traits: Engine) -> None:
    assert list(within(traits, Range("up", 1))) == [Row(2, "B"), Row(3, "C")]
    assert list(within(traits, Range("down", 0)).items()) == [((3, "C"), 2.0), ((2, "B"), 1.0), ((1, "A"), 1.0)]
    assert len(within.variants) == 2


def test_what_rows_become(traits: Engine) -> None:
    assert texts(traits) == ["1: A", "2: B", "3: C"]
    assert times(traits) == {1.0, 2.0}
    assert by_time(traits) == {1.0: [(1, "A"), (2, "B")], 2.0: [(3, "C")]}
    assert by_time(traits)[2.0][0].name == "C"
    assert nested_by_time(traits) == {1.0: {(1, "A"): 1, (2, "B"): 2}, 2.0: {(3, "C"): 3}}


def test_rows_are_kept_or_replaced(traits: Engine) -> None:
    assert add(traits, [(3, "D", 3.0), (4, "E", 4.0)]) == 1
    assert replace(traits, [(1, "F", 5.0)]) == 1
    assert texts(traits) == ["1: F", "2: B", "3: C", "4: E"]


def test_nothing_is_written_for_nothing(traits: Engine) -> None:
    assert (delete(traits, []), add(traits, [])) == (0, 0)
    assert len(texts(traits)) == 3
    assert delete(traits, [1, 2, 9]) == 2
