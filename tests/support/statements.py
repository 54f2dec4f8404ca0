"""How many statements something takes."""

from collections.abc import Callable
from typing import Any

from limes.db.engine import Engine


def count_statements(engine: Engine, work: Callable[[], Any]) -> int:
    """How often `work` asks the database."""
    return len(statements_of(engine, work))


def statements_of(engine: Engine, work: Callable[[], Any]) -> list[str]:
    """What `work` asks the database, but for what is prepared once on each connection."""
    texts: list[str] = []
    run = engine.db.execute_sql

    def counting(sql: str, *args: Any, **kwargs: Any) -> Any:
        if not sql.startswith("PREPARE"):
            texts.append(sql)
        return run(sql, *args, **kwargs)

    engine.db.execute_sql = counting
    try:
        work()
    finally:
        engine.db.execute_sql = run
    return texts
