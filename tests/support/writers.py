"""What runs in further processes that share a database with the tests. `run_in_processes` starts them."""

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peewee import Table

from limes.db.compiled import Compiled, lock
from limes.db.engine import Engine
from limes.db.migrate import Migrations
from limes.kernel.errors import LimesError

_COUNTERS = Table("counters", ["id", "value"])
_LOCK = Compiled(lambda _: lock(_COUNTERS.select(_COUNTERS.value).where(_COUNTERS.id == 1)))


def run_in_processes(count: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Runs `work(number, *arguments)` in `count` fresh processes at the same time, and answers their answers."""
    with multiprocessing.get_context("spawn").Pool(count) as pool:
        started = [pool.apply_async(work, (number, *arguments)) for number in range(count)]
        return [one.get(90) for one in started]


def increment(number: int, url: str, times: int) -> int:
    """Reads and writes a counter, `times` times; answers how often it was allowed to."""
    engine = Engine(url)

    def work() -> None:
        (value,) = engine.column(_LOCK)
        engine.execute("UPDATE counters SET value = %s WHERE id = 1", [value + 1])
        engine.execute("INSERT INTO writers (process) VALUES (%s)", [number])

    for _ in range(times):
        engine.atomic(work)
    engine.close()
    return times


def upgrade(number: int, url: str, directory: Path) -> list[str] | str:
    """Applies migrations; answers their names, or what went wrong."""
    engine = Engine(url)
    try:
        return Migrations("test", directory, "test_migrations").upgrade(engine)
    except LimesError as error:
        return str(error)
    finally:
        engine.close()
