"""Which tests `make check` and `make test` run.

`make test` leaves out those marked `long`, and runs each on one database unless two can differ. `make check` also leaves
out those marked `process`, and all that need PostgreSQL, a browser or real components.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

LONG_FOLDERS = frozenset({"hosts", "faults", "soak"})
"""All of their tests are long: several hosts, kills and hangs, mixed load."""

PROCESS_FOLDERS = frozenset(
    {"backends", "concurrency", "importer", "install", "integration", "osc", "prometheus", "worker"}
)
"""Most of their tests start processes of Limes, or servers that other services are played by."""

SQL_FOLDERS = frozenset({"db", "concurrency"})
"""All of their tests depend on SQL, locks or types."""


def mark_level(item: pytest.Item, folder: str) -> None:
    """Marks a test as its folder is, and as `again` if it repeats on PostgreSQL what SQLite has shown.

    A test that is on PostgreSQL only, because it says so itself, repeats nothing.
    """
    if folder in LONG_FOLDERS:
        item.add_marker("long")
    if folder in PROCESS_FOLDERS:
        item.add_marker("process")
    params = getattr(getattr(item, "callspec", None), "params", {})
    if params.get("databases") != "postgresql" or folder in SQL_FOLDERS or item.get_closest_marker("sql"):
        return
    if not any("databases" in _names(mark.args[0]) for mark in item.iter_markers("parametrize")):
        item.add_marker("again")


def _names(parameters: str | Sequence[str]) -> list[str]:
    """The names in the first argument of `parametrize`."""
    return [name.strip() for name in parameters.split(",")] if isinstance(parameters, str) else list(parameters)


def few_of(values: Iterable[Any], few: int) -> list[Any]:
    """Parameters of a test, of which `make test` runs the first `few`: seeds, versions, sizes."""
    return [pytest.param(value, marks=[pytest.mark.long] if n >= few else []) for n, value in enumerate(values)]
