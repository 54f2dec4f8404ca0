"""The index under concurrent writers, and with transactions that commit late."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from limes.db.engine import Engine
from limes.kernel.system import SystemClock
from limes.placement.index import ProviderIndex, poll
from limes.placement.migrations import placement_migrations
from tests.placement.index.describe import describe
from tests.placement.index.writer import Writer
from tests.support.databases import MigratedUrlFactory, UrlFactory

pytestmark = pytest.mark.sql


@pytest.fixture
def url(database_url_with: MigratedUrlFactory) -> str:
    return database_url_with(placement_migrations)


def prepared(url: str, providers: list[str]) -> Engine:
    engine = Engine(url, pool_size=32)
    writer = Writer(engine)

    def prepare() -> None:
        writer.name("resource_classes", "VCPU")
        for name in providers:
            writer.provider(name)
            writer.inventory(name, {"VCPU": 1_000_000})

    with engine.connection():
        engine.atomic(prepare)
    return engine


@pytest.mark.postgresql
def test_a_transaction_that_commits_late_is_seen(postgres_url_factory: UrlFactory) -> None:
    url = postgres_url_factory()
    engine, late = Engine(url), Engine(url)
    placement_migrations.upgrade(engine)
    index = ProviderIndex(engine, SystemClock())
    with late.connection(), late.db.atomic():
        Writer(late).provider("late")
        # a later number commits first, and the index sees it
        engine.atomic(lambda: Writer(engine).provider("early"))
        assert describe(index.current()) == ["early"]
        for number in range(3):
            engine.atomic(lambda number=number: Writer(engine).provider(f"more{number}"))
            index.current()
    assert [line for line in describe(index.current()) if line == "late"] == ["late"]
    engine.close()
    late.close()


@pytest.mark.postgresql
def test_an_open_transaction_does_not_make_polls_longer(postgres_url_factory: UrlFactory) -> None:
    url = postgres_url_factory()
    engine, late = Engine(url), Engine(url)
    placement_migrations.upgrade(engine)
    index = ProviderIndex(engine, SystemClock())
    with late.connection(), late.db.atomic():
        Writer(late).provider("late")
        for number in range(5):
            engine.atomic(lambda number=number: Writer(engine).provider(f"cn{number}"))
        index.current()
        assert poll(engine, index._state.mark).providers == {}
    engine.close()
    late.close()


def test_every_acknowledged_write_is_seen_at_once(url: str) -> None:
    names = [f"cn{number}" for number in range(6)]
    engine = prepared(url, names)
    indexes = [ProviderIndex(engine, SystemClock()) for _ in range(3)]
    done = {name: 0 for name in names}
    locks = {name: threading.Lock() for name in names}

    def work(seed: int) -> None:
        rng = random.Random(seed)
        for step in range(25):
            # two providers in an order that differs, so that stamps and commits come in all orders
            chosen = rng.sample(names, 2)
            with locks[min(chosen)], locks[max(chosen)]:

                def change(chosen: list[str] = chosen, step: int = step) -> None:
                    for name in sorted(chosen):
                        Writer(engine).use(name, "VCPU", 1, f"c-{seed}-{step}")

                engine.atomic(change)
                for name in chosen:
                    done[name] += 1
            expected = {name: done[name] for name in chosen}
            cloud = indexes[rng.randrange(3)].current()
            for name, least in expected.items():
                provider = cloud.provider_of(f"uuid-{name}")
                assert provider is not None
                assert provider.inventories["VCPU"].used >= least
            # each transaction takes one on two providers: a torn one would make the sum odd
            assert sum(p.inventories["VCPU"].used for p in cloud.by_id.values()) % 2 == 0

    with ThreadPoolExecutor(12) as pool:
        for outcome in [pool.submit(work, seed) for seed in range(12)]:
            outcome.result()
    assert sum(done.values()) == 12 * 25 * 2
    for index in indexes:
        assert describe(index.current()) == [f"{name} VCPU={done[name]}/1000000" for name in names]
    engine.close()
