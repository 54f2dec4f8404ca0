"""No locking query loses a row because somebody else changes it meanwhile.

PostgreSQL looks again at rows that were changed while it waited for them, and some plans no longer find them then.
"""

import ast
import gc
import importlib
import itertools
import pkgutil
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from peewee import CharField, Query, TextField

import limes
from limes.catalog.models import Capacitor, Job, Resource, Service
from limes.db import compiled as words
from limes.db.base import BaseModel
from limes.db.compiled import Compiled, Parameters, Statement, any_of, lock
from limes.db.engine import Engine
from limes.db.migrate import Upgrade, limes_migrations
from limes.growth.models import GrowthState
from limes.metering.models import MeteringState
from limes.notifications.models import NotificationCursor
from limes.placement.migrations import placement_migrations
from limes.placement.models import Allocation, Consumer, Inventory, ProjectQuota, Provider, ResourceClass, Trait
from limes.projects.models import Domain, DomainResource, Project, ProjectAZResource, ProjectResource, ProjectService
from limes.requests.models import QuotaRequest
from tests.support.databases import ON_POSTGRESQL

SECONDS = 60
HOW = ("lock", "lock_but_not_key", "keep")
PLANNER = ((), ("enable_hashjoin", "enable_mergejoin"), ("enable_nestloop", "enable_mergejoin"))
"""What PostgreSQL is kept from, so that it chooses other plans."""
LARGE = 1e12
THREE = (1, 2, 3)
PAIRS = tuple(itertools.product(THREE, THREE))
WORLD: dict[type[BaseModel], list[dict[str, Any]]] = {
    Domain: [{"id": i, "uuid": f"d{i}", "name": f"d{i}"} for i in THREE],
    Project: [{"id": i, "uuid": f"p{i}", "domain": 1} for i in THREE],
    Service: [{"id": i, "type": f"s{i}"} for i in THREE],
    Capacitor: [{"id": i, "name": f"c{i}"} for i in THREE],
    Resource: [{"id": i, "service": 1, "name": f"r{i}", "quota_due_at": 0} for i in THREE],
    DomainResource: [{"domain": i, "resource": j} for i, j in PAIRS],
    ProjectService: [
        {
            "project": i,
            "service": j,
            "is_stale": i > 1,
            "quota_desynced_at": 0,
            "next_push_at": 0,
            "scrape_claimed_until": 5,
        }
        for i, j in PAIRS
    ],
    ProjectResource: [{"project": i, "resource": j} for i, j in PAIRS],
    ProjectAZResource: [{"project_id": i, "resource_id": j, "az": "az"} for i, j in PAIRS],
    Job: [{"name": f"j{i}"} for i in THREE],
    GrowthState: [{"id": 1}],
    MeteringState: [{"id": 1}],
    NotificationCursor: [{"id": 1}],
    QuotaRequest: [
        *({"id": i, "domain": 1, "project": 1, "status": "open"} for i in THREE),
        *({"id": 3 + i, "domain": 1, "passed_on_from": i, "status": "open"} for i in THREE),
        *({"id": 6 + i, "domain": 1, "status": "open"} for i in THREE),
    ],
    ResourceClass: [{"id": 1_000_000 + i, "name": f"CUSTOM_{i}"} for i in THREE],
    Trait: [{"id": 1_000_000 + i, "name": f"CUSTOM_{i}"} for i in THREE],
    Provider: [
        {"id": i, "uuid": f"n{i}", "name": f"n{i}", "parent": 1 if i > 1 else None, "root": 1} for i in range(1, 10)
    ],
    Inventory: [
        {"provider": i, "resource_class": 1_000_001, "total": 9, "min_unit": 1, "max_unit": 9, "step_size": 1}
        for i in range(1, 10)
    ],
    Consumer: [{"id": i, "uuid": f"c{i}", "project_id": f"p{i}", "generation": 1} for i in THREE],
    Allocation: [{"consumer": i, "provider": 3 * i - j + 1, "resource_class": 1_000_001, "used": 1} for i, j in PAIRS],
    ProjectQuota: [{"project_id": f"p{i}", "resource_class": 1_000_000 + j} for i, j in PAIRS],
}
"""Some rows for each locking query: with a new one, more may be needed here. Fields that say nothing are added."""

_Named = Provider.alias()


def wrong(p: Parameters) -> Query:
    """Providers, found in a way in which PostgreSQL does not find them again."""
    return (
        Provider.select(Provider.uuid, Provider.id)
        .where(
            Provider.id.in_(
                _Named.select(_Named.id).where(any_of(_Named.uuid, p.uuids))
                + Allocation.select(Allocation.provider).where(any_of(Allocation.consumer, p.consumers))
            )
        )
        .order_by(Provider.id)
    )


def locking_queries() -> list[Compiled]:
    """All of Limes."""
    for module in pkgutil.walk_packages(limes.__path__, "limes."):
        if not re.search(r"\.wsgi\b|__main__|gunicorn_conf|migrations\.", module.name):
            importlib.import_module(module.name)
    gc.unfreeze()  # tests/conftest.py has it look past what was imported
    queries = [each for each in gc.get_objects() if isinstance(each, Compiled)]
    gc.freeze()
    ours = [query for query in queries if getattr(query._build, "func", query._build).__module__.startswith("limes.")]
    return [query for query in ours if isinstance(query._build(words.Parameters()), words.Locked)]


@pytest.fixture
def world(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine on a database of both halves, with a few rows. PostgreSQL does not know that they are few, or else it
    chooses plans that lose nothing anyway."""
    monkeypatch.setattr(Upgrade, "_analyze", lambda *_, **__: None)
    engine = Engine(database_url, lock_timeout=SECONDS)
    limes_migrations.upgrade(engine)
    placement_migrations.upgrade(engine)
    for model, rows in WORLD.items():
        needed = [
            one for one in model._meta.sorted_fields if not (one.null or one.default is not None or one.primary_key)
        ]
        blank = {one.name: "" if isinstance(one, (TextField, CharField)) else 0 for one in needed}
        blank = {name: None for row in rows for name in row} | blank
        engine.write(model.insert_many([blank | row for row in rows]).on_conflict_ignore())
    yield engine
    engine.close()


def parameters_of(engine: Engine, statement: Statement) -> Iterator[dict[str, Any]]:
    """All values for the parameters that may find rows."""
    tables = dict(reversed(one) for one in re.findall(r'(?:FROM|JOIN) "(\w+)" AS "(\w+)"', statement.sql))
    choices: dict[str, list[Any]] = {}
    marks = [match.start() for match in re.finditer("%s", statement.sql)]
    for mark, value in zip(marks, statement.values, strict=True):
        if not isinstance(value, words.Param):
            continue
        compared = re.search(r'"(\w+)"\."(\w+)" (= ANY\(|= |<= |> )$', statement.sql[:mark])
        if compared is None:
            assert statement.sql[:mark].endswith("LIMIT "), f"a new form: {statement.sql}"
            choices[value.name] = [1000]
        elif compared[3] in ("<= ", "> "):
            choices.setdefault(value.name, [LARGE] if compared[3] == "<= " else [LARGE, -LARGE])
        else:
            column = engine.rows(
                f"SELECT DISTINCT {compared[2]} FROM {tables[compared[1]]} WHERE {compared[2]} IS NOT NULL"
            )
            values = [row[0] for row in column]
            choices[value.name] = [values] if value.is_list else values
    for chosen in itertools.product(*choices.values()):
        yield dict(zip(choices, chosen, strict=True))


def rows_while_changed(engine: Engine, statement: Statement, values: list[Any], without: tuple[str, ...]) -> list[Any]:
    """What the query gives that has to wait for each of its rows, all of which somebody has changed."""
    sql = statement.sql.removesuffix(" SKIP LOCKED")  # which does not wait, but looks again at what has changed
    of = re.search(r" OF (\w+)$", sql)
    table = re.search(rf'FROM "(\w+)" AS "{of[1] if of else "t1"}"', sql)
    assert table is not None
    pid: list[int] = []

    def ask() -> list[Any]:
        for setting in without:
            engine.execute(f"SET LOCAL {setting} = off")
        pid.extend(engine.rows("SELECT pg_backend_pid()")[0])
        return engine.rows(sql, values)

    def change(pool: ThreadPoolExecutor) -> Any:
        (column,) = engine.rows(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum = 1", [table[1]]
        )
        engine.rows(f"SELECT 1 FROM {table[1]} FOR UPDATE")
        engine.execute(f"UPDATE {table[1]} SET {column[0]} = {column[0]}")
        asking = pool.submit(engine.atomic, ask)
        deadline = time.monotonic() + SECONDS
        waits = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
        while not (pid and engine.rows(waits, [pid[0]])):
            assert not asking.done(), f"does not wait for its rows: {sql}"
            assert time.monotonic() < deadline
            time.sleep(0.002)
        return asking

    with ThreadPoolExecutor(1) as pool:
        found: list[Any] = engine.atomic(lambda: change(pool)).result(SECONDS)
    return found


def lost_rows(engine: Engine, statement: Statement) -> list[Any]:
    """The rows that the query does not give any more with at least one of the planner's settings."""

    def rows(values: dict[str, Any]) -> list[Any]:
        return engine.rows(statement.sql, statement.bind(values))

    parameters = max(parameters_of(engine, statement), key=lambda each: len(rows(each)))
    expected = rows(parameters)
    assert expected, f"there is no row in WORLD for {statement.sql}"
    lost = []
    for without in PLANNER:
        found = rows_while_changed(engine, statement, statement.bind(parameters), without)
        lost += [row for row in expected if row not in found]
    return lost


@ON_POSTGRESQL
def test_each_locking_query_gives_all_its_rows_when_these_change_meanwhile(world: Engine) -> None:
    statements = [query.statement(world.dialect, world.db, {}) for query in locking_queries()]
    assert len(statements) >= 40
    lost = {statement.sql: lost_rows(world, statement) for statement in statements}
    assert {sql: rows for sql, rows in lost.items() if rows} == {}


@ON_POSTGRESQL
def test_the_form_that_is_refused_loses_rows(world: Engine) -> None:
    statement = Compiled(wrong).statement(world.dialect, world.db, {})
    assert lost_rows(world, Statement(f"{statement.sql} FOR UPDATE", statement.values, world.dialect))
    with pytest.raises(ValueError, match="any_of"):
        world.tuples(Compiled(lambda p: lock(wrong(p))), uuids=["n1"], consumers=[1])


def test_no_lock_hides_from_these_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is built in a function is found by nobody."""
    queries, tested = locking_queries(), set()
    monkeypatch.setattr(words, "Locked", lambda *_: tested.add(_place(sys._getframe(2))))
    for query in queries:
        query._build(words.Parameters())
    assert tested == set(_locks_in_source())


def _place(frame: FrameType) -> tuple[str, int]:
    return frame.f_code.co_filename, frame.f_lineno


def _locks_in_source() -> Iterator[tuple[str, int]]:
    for file in Path(limes.__path__[0]).rglob("*.py"):
        if "limes.db" not in (text := file.read_text()):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "limes.db.compiled"]
        names = {one.asname or one.name for each in imports for one in each.names if one.name in HOW}
        names |= {f"compiled.{how}" for how in HOW}
        calls = (node for node in nodes if isinstance(node, ast.Call))
        yield from ((str(file), call.lineno) for call in calls if ast.unparse(call.func) in names)
