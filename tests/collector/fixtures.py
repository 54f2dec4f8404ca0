"""Fixtures of the collector's tests: a lab on SQLite, and on PostgreSQL."""

import time
from collections.abc import Callable, Iterator

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.usage.sum_upkeep import wrong_sums
from tests.collector.lab import Lab
from tests.support.databases import MigratedUrlFactory


@pytest.fixture
def make_lab(database_url_with: MigratedUrlFactory) -> Iterator[Callable[..., Lab]]:
    """Makes the lab, with arguments of `Lab`."""
    engine = Engine(database_url_with(limes_migrations))
    yield lambda **options: Lab(engine, **options)
    assert wrong_sums(engine, time.time()) == []
    engine.close()


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """A lab in which everything was discovered, and nothing scraped yet."""
    lab = make_lab()
    lab.discover()
    return lab
