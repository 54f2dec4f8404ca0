"""The features of Limes: the one list that a new one is added to.

A feature is a folder of `limes`. What it adds to the whole is in constants of files that have the same names in each,
where it needs them:

- `models`: its tables.
- `routes`: `SECTIONS`, its part of the table of requests, and `RULES`, the policy rules that these name.
- `jobs`: `JOBS`, what collectors do at regular intervals, and `LISTENERS`, which make what is called with each scrape.
- `metrics`: `GAUGES`, what all processes show alike.
- `checks`: `CHECKS`, what `limes doctor` examines in the database.

Its section of the configuration file is a field of `limes.app.settings.root.Settings`, for type checkers to know it.
"""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

FEATURES = (
    "audit",
    "catalog",
    "projects",
    "reports",
    "quota",
    "labels",
    "autogrow",
    "collector",
    "usage",
    "lifetimes",
    "metering",
    "commitments",
    "requests",
    "notifications",
    "growth",
)
"""In the order of the documentation."""


def files(name: str) -> Iterator[ModuleType]:
    """Yields the files of this name. They are loaded only now: no process needs all of them."""
    for feature in FEATURES:
        if find_spec(f"limes.{feature}.{name}") is not None:
            yield import_module(f"limes.{feature}.{name}")


def entries(name: str, constant: str) -> Iterator[Any]:
    """Yields what all features have in this constant, in files of this name."""
    for file in files(name):
        yield from getattr(file, constant, ())
