"""`limes db upgrade` takes over databases from before `0001_initial` made all, if they have all of that time."""

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.errors import StartupError
from tests.db.old_database import CONVERTER, NAMES, PENDING, make_old

SCHEMA = {
    "postgresql": (
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace UNION ALL"
        " SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1"
    ),
    "sqlite": "SELECT name, sql FROM sqlite_master ORDER BY name",
}
BEHIND = rf"\({len(PENDING)} migration\(s\) pending, next: {CONVERTER}\)\. Run: limes db upgrade"


@pytest.fixture
def new(engine: Engine) -> list[tuple[str, ...]]:
    """The schema of the database, before it is made an old one."""
    limes_migrations.upgrade(engine)
    schema = engine.rows(SCHEMA[engine.dialect])
    make_old(engine)
    return schema


def test_it_becomes_like_a_new_one(engine: Engine, new: list[tuple[str, ...]]) -> None:
    assert engine.rows(SCHEMA[engine.dialect]) != new
    assert (limes_migrations.pending(engine), limes_migrations.unknown(engine)) == (PENDING, [])
    with pytest.raises(StartupError, match=BEHIND):
        limes_migrations.check(engine)
    assert limes_migrations.upgrade(engine) == PENDING
    assert engine.rows(SCHEMA[engine.dialect]) == new
    limes_migrations.check(engine)
    assert (limes_migrations.upgrade(engine), limes_migrations.unknown(engine)) == ([], [])


def test_processes_of_that_time_may_come_back(engine: Engine, new: list[tuple[str, ...]]) -> None:
    """They look for the names that they know."""
    limes_migrations.upgrade(engine)
    assert set(NAMES) < {name for (name,) in engine.rows("SELECT name FROM limes_schema_migrations")}


@pytest.mark.parametrize("applied", [1, 20, 28])
def test_what_was_not_finished_is_left_alone(engine: Engine, new: list[tuple[str, ...]], applied: int) -> None:
    engine.execute("DROP TABLE metered_units")  # the last file has made it
    for name in NAMES[applied:]:
        engine.execute(f"DELETE FROM limes_schema_migrations WHERE name = '{name}'")
    before = engine.rows(SCHEMA[engine.dialect])
    for _ in range(2):
        assert (limes_migrations.pending(engine), limes_migrations.unknown(engine)) == (PENDING, [])
        with pytest.raises(StartupError, match=BEHIND):
            limes_migrations.check(engine)
        with pytest.raises(StartupError, match=r"run `limes db upgrade` of commit \w+ first"):
            limes_migrations.upgrade(engine)
    assert engine.rows(SCHEMA[engine.dialect]) == before
