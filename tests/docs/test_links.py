"""Pages name other pages by paths that there are."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, pages

PAGES = [*sorted(ROOT.glob("*.md")), *pages()[1:]]
MADE = ROOT / "docs" / "reference"
"""Pages that the site makes; they are not kept."""
_MAKER = (ROOT / "docs" / "site" / "reference" / "__init__.py").read_text(encoding="utf-8")
_LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_all_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert [target for target in _LINK.findall(text) if not is_there(page.parent / target)] == []


def is_there(target: Path) -> bool:
    return f'"{target.stem}": ' in _MAKER if target.parent == MADE else target.exists()


def test_a_page_that_nothing_makes_is_not_there() -> None:
    assert is_there(MADE / "api.md")
    assert not is_there(MADE / "apples.md")
