"""Import-linter's floors have room for every package, and docs/architecture.md shows the same floors."""

from collections.abc import Iterator

from tests.house import ROOT, floors, floors_table


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
