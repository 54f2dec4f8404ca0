"""A database for tests of the account of usage."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from limes.db.engine import Engine
from tests.concurrency.test_quota import CLIENTS


@contextmanager
def engine_with(url: str, projects: Iterable[str]) -> Iterator[Engine]:
    """A migrated database with these projects (UUIDs), all in one domain."""
    engine = Engine(url, pool_size=CLIENTS + 4)
    engine.execute("INSERT INTO domains (uuid, name) VALUES ('d', 'germany')", [])
    for project in projects:
        engine.execute(
            "INSERT INTO projects (uuid, name, parent_uuid, domain_id, has_bursting)"
            " SELECT %s, %s, '', id, FALSE FROM domains",
            [project, f"name of {project}"],
        )
    yield engine
    engine.close()
