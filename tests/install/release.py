"""What a release needs besides passing tests; only `make release` runs this, after it has built the distributions."""

import re
from datetime import date
from pathlib import Path

from limes import __version__
from tests.db.released_migrations import MIGRATIONS, released

ROOT = Path(__file__).parents[2]


def test_the_changelog_has_nothing_without_a_release() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    day = re.search(r"^## Unreleased\s+## (\S+) \((\S+)\)$", changelog, re.MULTILINE)
    assert day is not None
    assert day[1] == __version__
    assert date.fromisoformat(day[2]) <= date.today()


def test_all_migrations_are_released() -> None:
    """From here on they never change."""
    assert set(MIGRATIONS) == set(released())


def test_it_was_built(distributions: Path) -> None:
    names = {path.name for path in distributions.iterdir()}
    assert names == {f"limes-{__version__}-py3-none-any.whl", f"limes-{__version__}.tar.gz"}
