"""Fixtures for tests of the Placement API."""

from collections.abc import Iterator

import pytest

from limes.db.engine import Engine
from limes.kernel.system import SystemClock
from limes.placement.migrations import placement_migrations
from limes.placement.objects.vocabulary import prepare
from tests.placement.world import World
from tests.support.databases import MigratedUrlFactory


@pytest.fixture
def placement_engine(database_url_with: MigratedUrlFactory) -> Iterator[Engine]:
    """An engine on a fresh database with the tables and the standard names."""
    engine = Engine(database_url_with(placement_migrations))
    prepare(engine, SystemClock())
    yield engine
    engine.close()


@pytest.fixture
def world(placement_engine: Engine) -> World:
    """The API with its default settings on an empty database."""
    return World(placement_engine)
