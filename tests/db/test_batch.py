"""Writes that are sent together."""

from typing import NamedTuple

import pytest

from limes.catalog.models import Job
from limes.db.compiled import Compiled
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS
from limes.db.migrate import limes_migrations
from tests.support.statements import statements_of


class Name(NamedTuple):
    name: str


_ADD = Compiled(lambda p: Job.insert(name=p.name, next_run_at=p.at, error=""))
_NAMES = Compiled(lambda p: Job.select(Job.name).order_by(Job.next_run_at))


@pytest.fixture
def jobs(engine: Engine) -> Engine:
    limes_migrations.upgrade(engine)
    return engine


def add_together(engine: Engine, *names: str) -> None:
    with engine.batch.collect():
        for number, name in enumerate(names):
            engine.write(_ADD, name=name, at=float(number))


def test_all_of_them_are_written_in_order(jobs: Engine) -> None:
    names = ["100 %", "a; b", "it's"]
    jobs.atomic(lambda: add_together(jobs, *names))
    jobs.atomic(lambda: add_together(jobs))
    assert jobs.column(_NAMES) == names


def test_none_of_them_if_one_fails(jobs: Engine) -> None:
    with pytest.raises(DATABASE_ERRORS):
        jobs.atomic(lambda: add_together(jobs, "first", "second", "first"))
    assert jobs.column(_NAMES) == []
    jobs.atomic(lambda: add_together(jobs, "third"))
    assert jobs.column(_NAMES) == ["third"]


def fail_after_a_note(engine: Engine) -> None:
    with engine.batch.collect():
        engine.write(_ADD, name="first", at=0.0)
        raise RuntimeError


def test_what_was_noted_when_the_block_failed_is_never_written(jobs: Engine) -> None:
    def work() -> None:
        with pytest.raises(RuntimeError):
            fail_after_a_note(jobs)
        add_together(jobs, "second")

    jobs.atomic(work)
    assert jobs.column(_NAMES) == ["second"]


@pytest.mark.parametrize("reads", [False, True])
def test_what_was_noted_before_that_block_is_written(jobs: Engine, reads: bool) -> None:
    def fail() -> None:
        with jobs.batch.collect():
            jobs.write(_ADD, name="second", at=1.0)
            if reads:
                jobs.column(_NAMES)
            jobs.write(_ADD, name="third", at=2.0)
            raise RuntimeError

    def work() -> None:
        add_together(jobs, "first")
        with pytest.raises(RuntimeError):
            fail()

    jobs.atomic(work)
    assert jobs.column(_NAMES) == (["first", "second"] if reads else ["first"])


def test_what_was_noted_is_not_written_if_the_transaction_fails(jobs: Engine) -> None:
    def work() -> None:
        add_together(jobs, "first")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        jobs.atomic(work)
    jobs.atomic(lambda: add_together(jobs, "second"))
    assert jobs.column(_NAMES) == ["second"]


def test_what_was_noted_is_sent_with_a_read(jobs: Engine) -> None:
    def work() -> None:
        with jobs.batch.collect():
            jobs.write(_ADD, name="first", at=0.0)
            jobs.write(_ADD, name="second", at=1.0)
            assert jobs.column(_NAMES) == ["first", "second"]

    joined, texts = jobs.dialect == "postgresql", statements_of(jobs, lambda: jobs.atomic(work))
    assert len([text for text in texts if "INSERT" in text or "SELECT" in text]) == (1 if joined else 3)


def test_a_read_sees_what_was_noted_before(jobs: Engine) -> None:
    def work() -> None:
        with jobs.batch.collect():
            jobs.write(_ADD, name="first", at=0.0)
            assert jobs.column(_NAMES) == ["first"]
            jobs.write(_ADD, name="second", at=1.0)
            assert [row.name for row in jobs.stream(_NAMES, Name)] == ["first", "second"]

    jobs.atomic(work)
    assert jobs.column(_NAMES) == ["first", "second"]
