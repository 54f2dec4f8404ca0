"""Import-linter's floors have room for every package, and docs/architecture.md shows the same floors."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (?P<floor>\d+) \| `(?:plugins/)?(?P<folder>[\w/]+)` \|", re.MULTILINE)


def floors() -> list[Any]:
    """The layers of the contract, from the ground up."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [{package.strip() for package in layer.split("|")} for layer in reversed(layers)]


def packages() -> Iterator[str]:
    """What stands directly in `limes` and `plugins`, by its name in Python."""
    for folder, prefix in ((ROOT / "limes", "limes."), (ROOT / "plugins", "")):
        for path in folder.iterdir():
            if path.suffix == ".py" and path.stem != "__init__":
                yield prefix + path.stem
            elif any(path.glob("*.py")):
                yield prefix + path.name


def test_every_package_is_on_one_floor() -> None:
    assert sorted(package for floor in floors() for package in floor) == sorted(packages())


def test_the_page_shows_the_same_floors() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    shown = [set() for _ in floors()]
    for row in ROW.finditer(page):
        shown[int(row["floor"]) - 1].add(row["folder"].replace("/", "."))
    assert shown == floors()
