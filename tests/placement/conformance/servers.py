"""One warm server of ours for each profile, and an empty database for each file."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from peewee import Value

from limes.db.engine import Engine
from limes.kernel.system import SystemClock
from limes.placement.migrations import placement_migrations
from limes.placement.models import Provider, ProviderTombstone
from limes.placement.objects import change
from limes.placement.objects.vocabulary import prepare
from limes.placement.routes import rules
from tests.support.processes import ServerProcess, free_port, http_answers


@contextlib.contextmanager
def running_server(
    database_url: str, folder: Path, profile: str = "core", *, workers: int = 1, threads: int = 4
) -> Iterator[str]:
    """A server on the database for as long as the block lasts. Gives its URL."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    env = {
        "PORT": str(port),
        "GABBI_LIVE_PROFILE": profile,
        "PLACEMENT_DATABASE_URL": database_url,
        "PLACEMENT_WORKERS": str(workers),
        "PLACEMENT_THREADS": str(threads),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    if profile == "open-policy":
        policy_file = folder / "open-policy.yaml"
        policy_file.write_text("".join(f'"{rule.name}": "@"\n' for rule in rules(True)))
        env["GABBI_LIVE_POLICY_FILE"] = str(policy_file)
    if profile == "cors":
        env["GABBI_LIVE_CORS_ALLOWED_ORIGIN"] = "http://valid.example.com"
        env["GABBI_LIVE_CORS_ALLOW_HEADERS"] = "openstack-api-version"
    log = folder / f"placement-{profile}-{port}.log"
    command = [sys.executable, "-m", "tests.placement.server"]
    with ServerProcess(command, ready=http_answers(url), log=log, env=env):
        yield url


def make_database(url: str) -> None:
    """Brings an empty database up, standard names included."""
    engine = Engine(url)
    placement_migrations.upgrade(engine)
    prepare(engine, SystemClock())
    engine.close()


def empty_database(url: str) -> None:
    """Deletes all but the standard names, as a writer that keeps the invariant of `change` does."""
    engine = Engine(url)

    def work() -> None:
        for table in ("allocations", "consumers", "project_quotas"):
            engine.execute(f"DELETE FROM placement_{table}")
        change.take_stamp(engine)
        now = Value(SystemClock().now().timestamp())
        engine.write(
            ProviderTombstone.insert_from(
                Provider.select(Provider.id, change.STAMP, now), list(ProviderTombstone._meta.sorted_fields)
            )
        )
        engine.execute("DELETE FROM placement_providers")
        engine.execute("DELETE FROM placement_traits WHERE name LIKE 'CUSTOM%%'")
        engine.execute("DELETE FROM placement_resource_classes WHERE name LIKE 'CUSTOM%%'")
        for name in change.VOCABULARIES:
            change.stamp_vocabulary(engine, name)

    engine.atomic(work)
    engine.close()
