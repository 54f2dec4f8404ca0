"""A database that accepts no changes any more: reads go on, and writes are told to come again."""

import peewee
import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.api.world import BERLIN, GERMANY, make_world
from tests.support.databases import MigratedUrlFactory
from tests.support.pgbouncer import needs_sessions

PROJECT = f"/v1/domains/{GERMANY}/projects/{BERLIN}"
BODY = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 21}]}]}}


@needs_sessions
@pytest.mark.parametrize("databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_a_postgresql_that_turns_read_only(database_url_with: MigratedUrlFactory) -> None:
    url = database_url_with(limes_migrations)
    engine, admin = Engine(url), Engine(url)
    world = make_world(engine)

    def set_read_only(setting: str) -> None:
        """For all who connect from now on; and all have to."""
        admin.execute(f"ALTER DATABASE {engine.name} {setting}")
        everybody_else = "pid <> pg_backend_pid() AND datname = current_database()"
        admin.rows(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {everybody_else}")

    with admin.connection():
        set_read_only("SET default_transaction_read_only = on")
        result = world.request("PUT", PROJECT, json=BODY)
        assert (result.status_code, result.text) == (503, "the database accepts no writes just now; try again\n")
        assert result.headers["retry-after"] == "5"
        assert world.request("POST", f"{PROJECT}/simulate-put", json=BODY).json == {"success": True}
        assert world.get(PROJECT)["project"]["name"] == "berlin"
        assert world.request("GET", "/healthcheck", None).status_code == 200
        set_read_only("RESET default_transaction_read_only")
    admin.close()
    assert world.request("PUT", PROJECT, json=BODY).status_code == 202
    engine.close()


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_an_sqlite_file_that_may_only_be_read(database_url_with: MigratedUrlFactory) -> None:
    engine = Engine(database_url_with(limes_migrations))
    world = make_world(engine)
    engine.execute("PRAGMA query_only = 1")  # the same error as of a file system that was mounted anew
    result = world.request("PUT", PROJECT, json=BODY)
    assert (result.status_code, result.text) == (503, "the database accepts no writes just now; try again\n")
    assert world.request("PUT", PROJECT, json=BODY).status_code == 202, "a new connection finds it writable"
    engine.close()


def test_a_write_in_a_snapshot_is_a_mistake_of_ours(migrated_engine: Engine) -> None:
    with pytest.raises(peewee.PeeweeException):
        migrated_engine.snapshot(lambda: migrated_engine.execute("DELETE FROM domains"))
