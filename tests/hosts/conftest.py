"""Fixtures of tests with several hosts."""

from collections.abc import Iterator

import pytest

from tests.faults.backend import FakeBackend, fake_backend


@pytest.fixture
def backend() -> Iterator[FakeBackend]:
    with fake_backend() as backend:
        yield backend
