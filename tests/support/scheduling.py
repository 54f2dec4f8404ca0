"""Which tests run on the same worker of pytest-xdist: those of a file, and those of all files that share costly servers."""

import functools
from pathlib import Path

import pytest
from xdist.scheduler import LoadGroupScheduling

_COSTLY = {
    "cloud": frozenset({"cloud_house", "neutron", "cinder", "swift"}),
    "rabbitmq": frozenset({"rabbitmq"}),
    "browser": frozenset({"browser"}),
}
"""Fixtures of servers that each worker would start again."""

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
    "web",
    "install",
    "api",
    "collector",
    "db",
)
"""Those whose files take longest come first: no worker is left with one of them at the end."""


def put_in_order(items: list[pytest.Item]) -> None:
    """Marks the files that stay together, and puts them and those that take long first."""
    groups: dict[Path, str] = {}
    for item in items:
        for group, servers in _COSTLY.items():
            if servers.intersection(getattr(item, "fixturenames", ())):
                groups.setdefault(item.path, group)
    rank = {folder: number for number, folder in enumerate(_FOLDERS)}
    items.sort(key=lambda item: -1 if item.path in groups else rank.get(folder_of(item), len(rank)))
    for item in items:
        if item.path in groups:
            item.add_marker(pytest.mark.xdist_group(groups[item.path]))


def folder_of(item: pytest.Item) -> str:
    """The folder of `tests` that it is in."""
    return _folder(item.path)


@functools.cache
def _folder(file: Path) -> str:
    return file.relative_to(Path(__file__).parents[1]).parts[0]


class FileByFile(LoadGroupScheduling):  # type: ignore[misc]  # xdist's types are not followed
    """Gives out groups, and for the rest file by file (`--dist loadgroup` would give out test by test)."""

    def _split_scope(self, nodeid: str) -> str:
        return str(super()._split_scope(nodeid)).partition("::")[0]
