"""Fixtures of the fault tests."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.backend import FakeBackend, fake_backend
from tests.faults.house import FaultHouse
from tests.setup.needs import POSTGRESQL
from tests.support.machine import require
from tests.support.postgres_cluster import PostgresCluster, postgres_cluster

FOLDER = f"{Path(__file__).parent}{os.sep}"
ROUNDS = int(os.environ.get("LIMES_FAULT_ROUNDS", "1"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests here are marked, and may take long when each fault is tried many times."""
    for item in items:
        if str(item.path).startswith(FOLDER):
            item.add_marker("faults")
            item.add_marker(pytest.mark.timeout(500 + 60 * ROUNDS))
            if "cluster" in getattr(item, "fixturenames", ()):
                item.add_marker("postgresql")


@pytest.fixture
def rounds() -> int:
    """How often a fault is tried: $LIMES_FAULT_ROUNDS, or once."""
    return ROUNDS


@pytest.fixture
def backend() -> Iterator[FakeBackend]:
    with fake_backend() as backend:
        yield backend


@pytest.fixture
def cluster() -> Iterator[PostgresCluster]:
    """A PostgreSQL of this test's own, which it may crash."""
    require(POSTGRESQL)
    with postgres_cluster() as cluster:
        yield cluster


@pytest.fixture
def make_house(tmp_path: Path, backend: FakeBackend) -> Iterator[Callable[..., FaultHouse]]:
    """Makes houses on a database, and stops them."""
    made: list[FaultHouse] = []

    def make(url: str, **options: Any) -> FaultHouse:
        made.append(FaultHouse(tmp_path, url, backend, **options))
        return made[-1]

    yield make
    for house in made:
        house.stop()


@pytest.fixture
def house(make_house: Callable[..., FaultHouse], cluster: PostgresCluster) -> FaultHouse:
    """A house on PostgreSQL that is at work."""
    house = make_house(cluster.url("postgres"))
    house.start()
    house.set_up_quota()
    return house


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Appends figures of the test to the file $LIMES_FAULT_REPORT."""
    began = time.monotonic()

    def write(**figures: Any) -> None:
        path = os.environ.get("LIMES_FAULT_REPORT")
        if path:
            figures |= {"fault": request.node.name, "rounds": ROUNDS, "seconds": round(time.monotonic() - began)}
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(figures) + "\n")

    return write
