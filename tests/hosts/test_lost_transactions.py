"""A fail-over to a standby that lacks the last commits: Placement's index goes on from what the new primary has."""

from collections.abc import Iterator

import pytest

from limes.db.engine import Engine
from limes.kernel.errors import Unavailable
from limes.kernel.system import SystemClock
from limes.placement.index import ProviderIndex
from limes.placement.migrations import placement_migrations
from limes.placement.objects import resource_provider
from tests.faults.house import eventually
from tests.placement.world import uuid_of
from tests.setup.needs import POSTGRESQL
from tests.support.machine import require
from tests.support.postgres_cluster import PostgresCluster, postgres_cluster

pytestmark = pytest.mark.postgresql


@pytest.fixture
def cluster() -> Iterator[PostgresCluster]:
    require(POSTGRESQL)
    with postgres_cluster() as cluster:
        yield cluster


def test_the_index_never_mixes_two_histories(cluster: PostgresCluster) -> None:
    engine = Engine(cluster.url("postgres"))
    placement_migrations.upgrade(engine)
    index = ProviderIndex(engine, SystemClock())
    add(engine, "kept")
    cluster.add_standby()
    cluster.primary.configure("synchronous_standby_names", "")
    cluster.standby.stop()
    lost = [add(engine, name) for name in ("lost-1", "lost-2", "lost-3")]
    assert names(index) == {"kept", "lost-1", "lost-2", "lost-3"}
    cluster.primary.crash()
    cluster.standby.start()
    cluster.primary, cluster.standby = cluster.standby, cluster.primary
    cluster.primary.promote()
    eventually("the new primary is found", lambda: answers(engine))
    again = add(engine, "new")
    assert again <= max(lost), "no number was given out a second time: the test shows nothing"
    assert names(index) == {"kept", "new"}
    engine.close()


def answers(engine: Engine) -> bool:
    try:
        engine.ping()
    except Unavailable:
        return False
    return True


def names(index: ProviderIndex) -> set[str]:
    return {provider.name for provider in index.current().by_id.values()}


def add(engine: Engine, name: str) -> int:
    """Adds a provider, and answers the number of its transaction."""

    def work() -> int:
        resource_provider.insert(engine, uuid_of(name), name, None, 0.0)
        return int(engine.rows("SELECT pg_current_xact_id()::text::bigint")[0][0])

    return engine.atomic(work)
