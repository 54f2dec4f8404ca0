"""Queries on the models that are built once and run with values."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest
from peewee import fn

from limes.catalog.models import Resource, Service
from limes.db.base import bind
from limes.db.compiled import Compiled, any_of, keep, lock
from limes.db.compiled_rows import compiled_insert
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.units import MAX_STORED
from limes.placement.migrations import placement_migrations
from limes.placement.models import Provider, Trait
from limes.projects.models import Domain, Project, ProjectResource


class Row(NamedTuple):
    id: int
    name: str


INSERT = Compiled(lambda p: Trait.insert(id=p.id, name=p.name, updated=0.0))
BY_IDS = Compiled(lambda p: Trait.select(Trait.id, Trait.name).where(any_of(Trait.id, p.ids)).order_by(Trait.id))
BY_NAMES = Compiled(
    lambda p: Trait.select(Trait.id).where(any_of(Trait.name, p.names)).order_by(Trait.id), prepare=True
)


@pytest.fixture
def traits(database_url_with: Any) -> Any:
    """An engine on a database with three traits."""
    engine = Engine(database_url_with(placement_migrations))
    for number, name in ((1, "A"), (2, "B"), (3, "it's 100 % C")):
        assert engine.write(INSERT, id=number, name=name) == 1
    yield engine
    engine.close()


def test_a_list_is_one_parameter_and_may_be_empty(traits: Engine) -> None:
    assert traits.all(BY_IDS, Row, ids=[3, 1]) == [Row(1, "A"), Row(3, "it's 100 % C")]
    assert traits.all(BY_IDS, Row, ids=[]) == []
    assert traits.column(BY_NAMES, names=["B", "it's 100 % C"]) == [2, 3]
    assert traits.column(BY_NAMES, names=()) == []


ADD = compiled_insert(
    Trait,
    *(Trait.id, Trait.name, Trait.updated),
    finish=lambda insert: insert.on_conflict(conflict_target=[Trait.id], preserve=[Trait.name]),
)


@pytest.mark.parametrize("count", [1, 32, 33, 3000])
def test_any_number_of_rows_is_written(traits: Engine, count: int) -> None:
    """Also those that PostgreSQL reads from JSON; and rows that are there already keep what is not replaced."""
    names = ["it's", '100 % "D"', "{back\\slash}", "Zürich\n\t", "null", ""]
    rows = [(number, f"{names[number % len(names)]} {number}", number + 0.1) for number in range(3, 3 + count)]
    assert traits.write(ADD, rows=rows) == count
    stored = traits.tuples(Trait.select(Trait.id, Trait.name, Trait.updated).where(Trait.id >= 3).order_by(Trait.id))
    assert [tuple(row) for row in stored] == [(3, rows[0][1], 0.0), *rows[1:]]


def test_rows_may_lack_values_and_get_defaults(database_url_with: Any) -> None:
    engine = Engine(database_url_with(limes_migrations))
    add = compiled_insert(ProjectResource, ProjectResource.project, ProjectResource.resource, ProjectResource.quota)
    engine.write(Domain.insert(id=1, uuid="d", name="d"))
    projects = compiled_insert(Project, Project.id, Project.uuid, Project.name, Project.parent_uuid, Project.domain)
    engine.write(projects, rows=[(id_, f"p{id_}", "p", "d", 1) for id_ in range(1, 51)])
    engine.write(Service.insert(id=1, type="s"))
    engine.write(Resource.insert(id=1, service=1, name="r"))
    engine.write(add, rows=[(id_, 1, None if id_ % 2 else MAX_STORED) for id_ in range(1, 51)])
    columns = (ProjectResource.quota, ProjectResource.usage, ProjectResource.forbids_autogrowth)
    stored = engine.tuples(ProjectResource.select(*columns).order_by(ProjectResource.project))
    assert [tuple(row) for row in stored] == [(None, 0, False), (MAX_STORED, 0, False)] * 25
    engine.close()


def test_the_query_is_built_once(traits: Engine) -> None:
    built = []
    query = Compiled(lambda p: built.append(p) or Trait.select(Trait.id, Trait.name).where(Trait.id == p.id))
    assert traits.first(query, Row, id=2) == Row(2, "B")
    assert traits.first(query, Row, id=9) is None
    assert len(built) == 1


@pytest.mark.postgresql
def test_an_insert_depends_on_its_own_database_alone(traits: Engine, postgres_url_factory: Any) -> None:
    """And not on the one that the models happen to be bound to."""
    other = Engine(postgres_url_factory())
    bind(other.db)
    query = Compiled(lambda p: Trait.insert(id=p.id, name=p.name, updated=0.0).on_conflict_ignore())
    assert [traits.write(query, id=number, name="new") for number in (7, 8)] == [1, 0]
    other.close()


@pytest.mark.parametrize("count", [1, 2, 100])
def test_any_number_of_rows_is_inserted_in_one_statement(traits: Engine, count: int) -> None:
    query = compiled_insert(Trait, Trait.id, Trait.name, Trait.updated, finish=lambda rows: rows.returning(Trait.id))
    ids = [1000 + number for number in range(count)]
    assert traits.column(query, rows=[(number, f"trait {number}", 5.0) for number in ids]) == ids
    names = traits.column(Trait.select(Trait.name).where(Trait.id >= 1000).order_by(Trait.id))
    assert names == [f"trait {number}" for number in ids]


def test_fields_that_rows_do_not_have_get_the_default_of_the_model(traits: Engine) -> None:
    fields = (Provider.id, Provider.uuid, Provider.name, Provider.root, Provider.updated, Provider.changed)
    roots = [(1, "a", "a", 1, 0.0, 0), (2, "b", "b", 2, 0.0, 0)]
    assert traits.write(compiled_insert(Provider, *fields), rows=roots) == 2
    assert traits.column(Provider.select(Provider.generation)) == [0, 0]


def test_values_that_are_part_of_the_query_stay(traits: Engine) -> None:
    query = Compiled(lambda p: Trait.select(Trait.id).where(any_of(Trait.name, ["A", "B"]), Trait.id > p.above))
    assert traits.column(query, above=1) == [2]
    assert traits.column(Trait.select(fn.COUNT(Trait.id)).where(Trait.name == "it's 100 % C")) == [1]


def test_a_value_that_is_not_given_is_an_error(traits: Engine) -> None:
    with pytest.raises(KeyError, match="ids"):
        traits.all(BY_IDS, Row, names=[1])


@pytest.mark.parametrize("words", [lock, keep])
def test_rows_are_locked_until_the_transaction_ends(traits: Engine, words: Any) -> None:
    """PostgreSQL leaves out rows that others have locked; on SQLite a writer is alone, so there is nothing to lock."""
    held = Compiled(lambda p: words(Trait.select(Trait.id).where(Trait.id == p.id)))
    free = Compiled(lambda p: lock(Trait.select(Trait.id).order_by(Trait.id), of="t1", skip_locked=True))

    def while_held() -> list[int]:
        assert traits.column(held, id=2) == [2]
        with ThreadPoolExecutor(1) as other:
            read = traits.atomic if traits.dialect == "postgresql" else traits.snapshot
            return other.submit(read, lambda: traits.column(free)).result(30)

    assert traits.atomic(while_held) == ([1, 3] if traits.dialect == "postgresql" else [1, 2, 3])
    assert traits.atomic(lambda: traits.column(free)) == [1, 2, 3]


def test_a_column_may_be_looked_up_among_what_a_query_gives(traits: Engine) -> None:
    late = Trait.alias()
    ids = late.select(late.id).where(late.id > 1)
    query = Trait.select(Trait.id).order_by(Trait.id)
    assert traits.column(query.where(any_of(Trait.id, ids))) == [2, 3]
    assert traits.column(query.where(any_of(Trait.id, ids), Trait.name == "B")) == [2]
    assert traits.column(query.where(~any_of(Trait.id, ids))) == [1]
