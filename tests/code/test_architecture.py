"""Import-linter's floors have room for every package, and docs/architecture.md shows the same floors."""

import tomllib
from collections.abc import Iterator

from limes.app.features import FEATURES
from tests.house import ROOT, floors, floors_table

LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]


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
    assert floors_table() in (ROOT / "docs" / "architecture.md").read_text()


def test_contracts_name_each_feature() -> None:
    """Lists of import-linter that a new folder has to be in, or else it is not checked."""
    contracts = {each["name"].partition(":")[0]: each for each in LINTER["contracts"]}
    with_routes = {f"limes.{each}" for each in FEATURES if (ROOT / "limes" / each / "handlers.py").exists()}
    # those of reports and the collector have several files of a kind
    assert with_routes - {"limes.reports", "limes.collector"} <= set(contracts["inside a feature"]["containers"])
    for name in ("the Placement half does not import the Limes half", "the dashboard is made of the public API"):
        assert {f"limes.{each}" for each in FEATURES} <= set(contracts[name]["forbidden_modules"]), name
    for_plugins = {"limes.catalog"}  # backends use it, and plugins use backends
    forbidden = set(contracts["plugins know only backends"]["forbidden_modules"])
    assert {f"limes.{each}" for each in FEATURES} - for_plugins <= forbidden
