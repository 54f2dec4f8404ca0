"""Which tests run on the same worker of pytest-xdist: those of a file, and those of all files that share costly servers."""

import functools
import re
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

_TESTS = Path(__file__).parents[1]
_COSTLY = {
    "cloud": re.compile(r"\b(cloud_house|neutron|cinder|swift)\b[:,]"),
    "rabbitmq": re.compile(r"\brabbitmq\b[:,]"),
    "browser": re.compile(r"\bopen_as\b[:,]"),
}
"""Fixtures of servers that each worker would start again, as arguments of tests."""

_FOLDERS = (
    "e2e",
    "integration",
    "placement",
    "backends",
    "concurrency",
    "docs",
    "prometheus",
    "hosts",
    "faults",
    "soak",
    "install",
    "api",
    "commitments",
    "reports",
    "metering",
    "autogrow",
    "quota",
    "requests",
    "notifications",
    "collector",
    "db",
)
"""Those whose files take longest come first: no worker is left with one of them at the end."""


def put_in_order(items: list[pytest.Item]) -> None:
    """Files that share costly servers come first, and then those that take long."""
    rank = {folder: number for number, folder in enumerate(_FOLDERS)}
    items.sort(key=lambda item: -1 if _group(item.path) else rank.get(folder_of(item), len(rank)))


def folder_of(item: pytest.Item) -> str:
    """The folder of `tests` that it is in."""
    return _folder(item.path)


@functools.cache
def _folder(file: Path) -> str:
    return file.relative_to(_TESTS).parts[0]


@functools.cache
def _group(file: Path) -> str | None:
    text = file.read_text()
    return next((group for group, fixtures in _COSTLY.items() if fixtures.search(text)), None)


class FileByFile(LoadFileScheduling):  # type: ignore[misc]  # xdist's types are not followed
    """Gives out tests file by file, with all files that share costly servers as one. It knows them by their text, since
    pytest-xdist's own groups get lost with pytest 9."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return _group(_TESTS.parent / file) or file
