"""The commands of `docs/upgrade-and-backup.md`: what was backed up is there again."""

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.placement.migrations import placement_migrations
from tests.api.world import BERLIN, GERMANY, make_world
from tests.docs.blocks import blocks_of
from tests.setup.needs import POSTGRESQL
from tests.support.databases import MigratedUrlFactory
from tests.support.machine import MACHINE
from tests.support.postgres import PostgresServer
from tests.support.rows import all_rows

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "upgrade-and-backup.md"


def block(beginning: str) -> str:
    """The page's block of this test that begins like this."""
    found = [one.shown for one in blocks_of(PAGE) if one.marks.get("run by", "").endswith("test_backup.py")]
    (text,) = (text for text in found if text.startswith(beginning))
    return text


def bash(text: str, folder: Path, **env: Any) -> subprocess.CompletedProcess[str]:
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, program in (("python3", sys.executable), ("limes", f"{sys.executable} -m limes")):
        (programs / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}:{POSTGRESQL.find(MACHINE)}:{os.environ['PATH']}"
    ours = {key: value for key, value in os.environ.items() if not key.startswith("LIMES_")}
    return subprocess.run(
        ["bash", "-euc", text],
        cwd=folder,
        env={**ours, "PATH": path, "PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}", **env},
        capture_output=True,
        text=True,
        timeout=180,
    )


def filled(url: str) -> dict[str, Counter[Any]]:
    """A database with the small cloud, and one change after it."""
    engine = Engine(url)
    world = make_world(engine)
    body = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 25}]}]}}
    assert world.request("PUT", f"/v1/domains/{GERMANY}/projects/{BERLIN}", json=body).status_code == 202
    rows = all_rows(engine)
    engine.close()
    return rows


def rows_of(url: str) -> dict[str, Counter[Any]]:
    engine = Engine(url)
    rows = all_rows(engine)
    engine.close()
    return rows


def services_of(url: str) -> list[dict[str, Any]]:
    """A configuration of the services that the database has: the doctor warns of what is not configured any more."""
    engine = Engine(url)
    names = engine.rows("SELECT s.type, r.name FROM services s JOIN resources r ON r.service_id = s.id")
    engine.close()
    resources: dict[str, dict[str, Any]] = {}
    for service_type, name in names:
        resources.setdefault(service_type, {})[name] = {"quota": 0}
    return [
        {"service_type": service_type, "type": "static", "params": {"area": service_type, "resources": mine}}
        for service_type, mine in resources.items()
    ]


@pytest.mark.postgresql
@pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
def test_postgresql(postgres: PostgresServer, database_url_with: MigratedUrlFactory, tmp_path: Path) -> None:
    url = database_url_with(limes_migrations, placement_migrations)
    before = filled(url)
    env = {"PGHOST": "127.0.0.1", "PGPORT": str(postgres.port), "PGUSER": "postgres"}
    restored = postgres.url("limes_restored")
    env |= {"LIMES_DATABASE_URL": url, "RESTORED_DATABASE_URL": restored}
    postgres.execute("DROP ROLE IF EXISTS limes")
    postgres.execute("CREATE ROLE limes LOGIN")
    try:
        for text in (block("pg_dump"), block("createdb")):
            done = bash(text, tmp_path, **env)
            assert done.returncode == 0, done.stderr
        assert rows_of(restored) == before
        document = yaml.safe_load((ROOT / "config" / "quickstart.yaml").read_text())
        document["database"]["url"] = restored
        for rule in document["resource_behavior"]:  # or else there is a warning: some usage here has no known zone
            rule["commitment_is_az_aware"] = False
        document["services"] = services_of(restored)
        (tmp_path / "limes.yaml").write_text(yaml.safe_dump(document))
        analyzed = bash(block("psql"), tmp_path, RESTORED_DATABASE_URL=restored)
        assert (analyzed.returncode, analyzed.stdout) == (0, "ANALYZE\n"), analyzed.stderr
        looked = bash(block("limes db upgrade"), tmp_path)
        assert looked.returncode == 0, looked.stdout + looked.stderr
        assert "nothing to do" in looked.stdout
        assert "the database can be written" in looked.stdout
        engine = Engine(restored)
        domains = engine.rows("INSERT INTO domains (uuid, name) VALUES ('new', 'new') RETURNING id")
        engine.close()
        assert len(domains) == 1, "sequences are there as well"
    finally:
        postgres.drop_database("limes_restored")
        postgres.execute("DROP ROLE limes")


def test_sqlite_while_somebody_writes(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    url = f"sqlite:///{tmp_path}/var/limes.db"
    engine = Engine(url)
    limes_migrations.upgrade(engine)
    before = filled(url)
    writer = sqlite3.connect(tmp_path / "var" / "limes.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO domains (uuid, name) VALUES ('half', 'done')")
    assert (tmp_path / "var" / "limes.db-wal").stat().st_size > 0, "not everything is in the main file"
    done = bash(block("python3"), tmp_path)
    writer.close()
    engine.close()
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
    assert rows_of(f"sqlite:///{tmp_path}/limes-backup.db") == before
