"""The index follows the database: names, failures, silence and forks. `test_heirs.py` has each kind of change."""

import os
from collections.abc import Callable, Iterator
from typing import Never

import pytest

from limes.db.engine import Engine
from limes.kernel.system import SystemClock
from limes.placement.index import ProviderIndex
from limes.placement.migrations import placement_migrations
from limes.placement.objects.change import TOMBSTONE_SECONDS
from tests.placement.index.describe import describe
from tests.placement.index.writer import Writer
from tests.support.databases import MigratedUrlFactory

pytestmark = pytest.mark.sql


class LateClock(SystemClock):
    """A clock whose monotonic time can be moved on."""

    late = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.late


@pytest.fixture
def engine(database_url_with: MigratedUrlFactory) -> Iterator[Engine]:
    engine = Engine(database_url_with(placement_migrations))
    yield engine
    engine.close()


@pytest.fixture
def clock() -> LateClock:
    return LateClock()


@pytest.fixture
def index(engine: Engine, clock: LateClock) -> ProviderIndex:
    return ProviderIndex(engine, clock)


@pytest.fixture
def write(engine: Engine) -> Callable[..., None]:
    """`write("inventory", "cn", {...})` does one method of the writer in a transaction of its own."""
    writer = Writer(engine)

    def run(method: str, *args: str) -> None:
        with engine.connection():
            engine.atomic(lambda: getattr(writer, method)(*args))

    for name in ("VCPU", "DISK_GB"):
        run("name", "resource_classes", name)
    for name in ("CUSTOM_B", "CUSTOM_A"):
        run("name", "traits", name)
    return run


def test_new_names_are_known_at_once(index: ProviderIndex, write: Callable[..., None]) -> None:
    assert list(index.current().traits) == ["CUSTOM_B", "CUSTOM_A"]
    write("name", "traits", "CUSTOM_C")
    write("name", "resource_classes", "CUSTOM_X")
    assert list(index.current().traits) == ["CUSTOM_B", "CUSTOM_A", "CUSTOM_C"]
    write("provider", "cn")
    write("inventory", "cn", {"CUSTOM_X": 1})
    assert describe(index.current()) == ["cn CUSTOM_X=0/1"]


def test_a_class_that_is_renamed(index: ProviderIndex, write: Callable[..., None], engine: Engine) -> None:
    write("name", "resource_classes", "CUSTOM_X")
    write("provider", "cn")
    write("inventory", "cn", {"CUSTOM_X": 1})
    assert describe(index.current()) == ["cn CUSTOM_X=0/1"]
    write("rename_class", "CUSTOM_X", "CUSTOM_Y")
    assert describe(index.current()) == ["cn CUSTOM_Y=0/1"]
    assert "CUSTOM_X" not in index.current().classes


def test_names_that_go(index: ProviderIndex, write: Callable[..., None], engine: Engine) -> None:
    write("remove_trait", "CUSTOM_A")
    assert list(index.current().traits) == ["CUSTOM_B"]
    write("remove_trait", "CUSTOM_B")
    assert list(index.current().traits) == []


def test_nothing_new_gives_the_same_cloud(index: ProviderIndex, write: Callable[..., None]) -> None:
    write("provider", "cn")
    cloud = index.current()
    assert index.current() is cloud


def test_an_older_cloud_stays_as_it_was(index: ProviderIndex, write: Callable[..., None]) -> None:
    write("provider", "cn")
    write("inventory", "cn", {"VCPU": 8})
    before = index.current()
    write("inventory", "cn", {"VCPU": 9})
    write("provider", "other")
    assert describe(index.current()) == ["cn VCPU=0/9", "other"]
    assert describe(before) == ["cn VCPU=0/8"]


def test_a_failed_transaction_leaves_no_trace(index: ProviderIndex, write: Callable[..., None], engine: Engine) -> None:
    write("provider", "cn")
    before = index.current()

    def fail() -> Never:
        Writer(engine).provider("ghost")
        raise RuntimeError

    with engine.connection(), pytest.raises(RuntimeError):
        engine.atomic(fail)
    assert index.current() is before
    write("provider", "next")
    assert describe(index.current()) == ["cn", "next"]


def test_many_providers_at_once(index: ProviderIndex, write: Callable[..., None], engine: Engine) -> None:
    def many() -> None:
        for number in range(2500):
            Writer(engine).provider(f"cn{number}")

    write("provider", "first")
    index.current()
    with engine.connection():
        engine.atomic(many)
    assert describe(index.current()) == ["first", *(f"cn{number}" for number in range(2500))]


def test_a_long_silence_starts_afresh(
    index: ProviderIndex, write: Callable[..., None], engine: Engine, clock: LateClock
) -> None:
    write("provider", "a")
    write("provider", "b")
    index.current()
    write("remove", "a")
    # the tombstone is cleared away before this index looked
    engine.execute("DELETE FROM placement_provider_tombstones")
    clock.late = TOMBSTONE_SECONDS
    assert describe(index.current()) == ["b"]


def test_a_database_that_was_reset_underneath(index: ProviderIndex, write: Callable[..., None], engine: Engine) -> None:
    write("provider", "a")
    index.current()
    tables = ("placement_provider_tombstones", "placement_providers")
    if engine.dialect == "postgresql":
        engine.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
    else:
        for table in tables:
            engine.execute(f"DELETE FROM {table}")
        engine.execute("UPDATE placement_change_counter SET value = 1")
    assert describe(index.current()) == []
    write("provider", "b")
    assert describe(index.current()) == ["b"]


def test_a_forked_child_follows_on_its_own(index: ProviderIndex, write: Callable[..., None], engine: Engine) -> None:
    write("provider", "a")
    index.current()
    # taken when the parent forks, as another thread of the parent could have it
    index._lock.acquire()
    child = os.fork()
    if child == 0:
        try:
            engine.dispose()
            engine.atomic(lambda: Writer(engine).provider("b"))
            os._exit(0 if describe(index.current()) == ["a", "b"] else 1)
        finally:
            os._exit(2)
    index._lock.release()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert describe(index.current()) == ["a", "b"]
