"""An index that begins with what another has read: for processes that are forked. And an index that followed many
changes is like one that has read everything now."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.kernel.system import SystemClock
from limes.placement.index import ProviderIndex
from limes.placement.loading import Names, ProviderLoader
from limes.placement.migrations import placement_migrations
from limes.placement.search.model import SHARING_TRAIT, Cloud, Provider
from tests.placement.index.describe import describe
from tests.placement.index.writer import Writer
from tests.support.databases import MigratedUrlFactory
from tests.support.levels import few_of

pytestmark = pytest.mark.sql

CLASSES, TRAITS, AGGREGATES = ("VCPU", "DISK_GB"), ("CUSTOM_A", SHARING_TRAIT), ("agg-1", "agg-2", "agg-3")


@pytest.fixture
def engine(database_url_with: MigratedUrlFactory) -> Iterator[Engine]:
    engine = Engine(database_url_with(placement_migrations))
    writer = Writer(engine)
    for kind, names in (("resource_classes", CLASSES), ("traits", TRAITS)):
        for name in names:
            engine.atomic(lambda kind=kind, name=name: writer.name(kind, name))
    yield engine
    engine.close()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[int] | None]:
    """The ids of the providers that were read, load by load; None for all."""
    read: list[Sequence[int] | None] = []
    load = ProviderLoader.load

    def noted(self: ProviderLoader, vocabulary: Names, ids: Sequence[int] | None = None) -> Iterator[Provider]:
        read.append(ids)
        return load(self, vocabulary, ids)

    monkeypatch.setattr(ProviderLoader, "load", noted)
    return read


def add(engine: Engine, name: str) -> None:
    engine.atomic(lambda: Writer(engine).provider(name))


def test_an_heir_reads_only_what_has_changed(engine: Engine, read: list[Sequence[int] | None]) -> None:
    add(engine, "a")
    index = ProviderIndex(engine, SystemClock())
    index.current()
    assert read == [None]
    heir = index.heir(engine)
    heir.load()
    assert read == [None], "it has something already"
    add(engine, "b")
    assert describe(heir.current()) == ["a", "b"]
    assert [ids if ids is None else len(ids) for ids in read] == [None, 1]
    assert describe(index.current()) == ["a", "b"], "the other one follows by itself"


def test_an_heir_of_nothing_reads_everything(engine: Engine, read: list[Sequence[int] | None]) -> None:
    add(engine, "a")
    heir = ProviderIndex(engine, SystemClock()).heir(engine)
    heir.load()
    assert read == [None]
    assert describe(heir.current()) == ["a"]


def everything(cloud: Cloud) -> dict[str, Any]:
    """All that a search may use, as plain values."""
    return {
        "providers": describe(cloud),
        "by id": [(provider.id, provider.name, provider.lineage) for provider in cloud.by_id.values()],
        "by uuid": {uuid: cloud.ids[uuid] for uuid in cloud.ids},
        "trees": list(cloud.trees),
        "classes": {name: list(cloud.by_class[name]) for name in cloud.by_class},
        "aggregates": {uuid: list(cloud.by_aggregate[uuid]) for uuid in cloud.by_aggregate},
        "sharing": {uuid: [one.id for one in providers] for uuid, providers in cloud.sharing.items()},
        "sizes": (len(cloud.by_id), len(cloud.ids), len(cloud.trees)),
    }


class RandomWriter:
    """Makes one random change after the other, that the database allows."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self._engine = engine
        self._writer = Writer(engine)
        self._rng = random.Random(seed)
        self._names: list[str] = []
        self._parents: dict[str, str] = {}
        self._count = 0

    def change(self) -> None:
        """One transaction with up to three changes."""
        self._engine.atomic(lambda: [self._step() for _ in range(self._rng.randint(1, 3))])

    def _step(self) -> None:
        rng, writer = self._rng, self._writer
        if len(self._names) < 3 or rng.random() < 0.3:
            self._count += 1
            name = f"p{self._count}"
            parent = rng.choice([None, *self._names])
            writer.provider(name, parent)
            self._names.append(name)
            if parent:
                self._parents[name] = parent
            return
        name = rng.choice(self._names)
        leaf = name not in self._parents.values()
        steps: list[Callable[[], object]] = [
            lambda: writer.inventory(name, {rng.choice(CLASSES): rng.randint(1, 9)}),
            lambda: writer.touch(name),
            lambda: self._once("traits", lambda: writer.trait(name, rng.choice(TRAITS)), name),
            lambda: self._once("aggregates", lambda: writer.aggregate(name, rng.choice(AGGREGATES)), name),
        ]
        if leaf:
            steps += [lambda: self._remove(name)]
        if leaf and name not in self._parents:
            roots = [other for other in self._names if other not in self._parents and other != name]
            steps += [lambda: self._move(name, rng.choice(roots))] if roots else []
        rng.choice(steps)()

    def _once(self, table: str, work: Callable[[], object], name: str) -> None:
        """Replaces what the provider has of the kind."""
        key = self._writer.id(name)
        self._engine.execute(f"DELETE FROM placement_provider_{table} WHERE provider_id = %s", [key])
        work()

    def _remove(self, name: str) -> None:
        self._writer.remove(name)
        self._names.remove(name)
        self._parents.pop(name, None)

    def _move(self, name: str, parent: str) -> None:
        self._writer.move(name, parent)
        self._parents[name] = parent


@pytest.mark.parametrize("seed", few_of(range(4), 2))
def test_whoever_follows_has_what_whoever_reads_has(engine: Engine, seed: int) -> None:
    writer, rng = RandomWriter(engine, seed), random.Random(seed)
    index = ProviderIndex(engine, SystemClock())
    heirs = [index.heir(engine)]
    for _ in range(60):
        writer.change()
        now = everything(ProviderIndex(engine, SystemClock()).current())
        assert everything(index.current()) == now
        if rng.random() < 0.2:
            heir = rng.choice(heirs)
            assert everything(heir.current()) == now
            heirs.append(heir.heir(engine))
