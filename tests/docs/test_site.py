"""The documentation site: it builds without a warning, everything is in it, and it needs no other host."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

BUILD_ANOTHER = "import sys, pathlib; from build import build; sys.exit(build(*map(pathlib.Path, sys.argv[1:])))"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=DOCS / "site", capture_output=True, text=True, timeout=110
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built."""
    output = tmp_path_factory.mktemp("site") / "html"
    done = run("build.py", output)
    assert done.returncode == 0, done.stderr
    return output


def test_every_page_is_in_the_site_and_in_its_search_index(site: Path):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix("")
        assert (site / f"{name}.html").exists(), name
        assert f'"{name}"' in index, name


def test_every_link_of_the_readme_leads_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


MISTAKES = """
```{toctree}
missing-page
```
[there](missing-file.md) and [there](#missing-anchor) and [there](other.md#missing-heading)
"""


def test_what_is_wrong_fails_the_build(tmp_path: Path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text(f"# A\n{MISTAKES}")
    (docs / "other.md").write_text("# B\n")
    done = run("-c", BUILD_ANOTHER, tmp_path / "html", docs)
    assert done.returncode == 1
    assert "other.md: WARNING: document isn't included in any toctree" in done.stderr
    assert "reference to nonexisting document 'missing-page'" in done.stderr
    for target in ("missing-file.md", "missing-anchor", "missing-heading"):
        assert target in done.stderr


def test_what_comes_from_another_host_fails_the_build(tmp_path: Path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# A\n\n![](https://example.com/a.png)\n")
    done = run("-c", BUILD_ANOTHER, tmp_path / "html", docs)
    assert done.returncode == 1
    assert done.stderr.endswith("index.html fetches something from another host\n")
