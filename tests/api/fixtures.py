"""The world of `tests.api.world` on both databases."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.usage.sum_upkeep import wrong_sums
from tests.api.world import World, make_world
from tests.commitments.commitments import BEHAVIORS
from tests.support.databases import MigratedUrlFactory

pytest.register_assert_rewrite("tests.commitments.commitment_invariants")


@pytest.fixture
def migrated_engine(database_url_with: MigratedUrlFactory) -> Iterator[Engine]:
    """An engine on a database with the tables of the Limes half."""
    engine = Engine(database_url_with(limes_migrations))
    yield engine
    assert wrong_sums(engine, time.time()) == []
    engine.close()


@pytest.fixture
def world(migrated_engine: Engine) -> World:
    """The small cloud, without bursting, constraints or low-privilege limits."""
    return make_world(migrated_engine)


@pytest.fixture
def cloud(migrated_engine: Engine) -> World:
    """The small cloud, with resources that can be committed to. Only cores in dresden are worth an alert: 31 of 30."""
    return make_world(migrated_engine, behaviors=BEHAVIORS)


@pytest.fixture
def make(migrated_engine: Engine) -> Callable[..., World]:
    """Makes the small cloud with options."""

    def make_with(**options: Any) -> World:
        return make_world(migrated_engine, **options)

    return make_with
