"""The documentation site: it builds without a warning, everything is in it, and it needs no other host."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Page

from limes.app.features import entries
from limes.app.models import MODELS, ON_POSTGRESQL
from limes.app.routes import ROUTES, RULES
from limes.backends.loader import Plugins
from limes.placement.routes import rules as placement_rules
from tests.e2e.axe import violations
from tests.e2e.browser import PATIENCE_MS
from tests.support.frontend import require_packages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

pytestmark = [
    pytest.mark.site,
    pytest.mark.long,
    pytest.mark.timeout(600),
]  # a build takes 12 s of a core, which others may want too

BUILD_ANOTHER = "import sys, pathlib; from build import build; sys.exit(build(*map(pathlib.Path, sys.argv[1:])))"


def run(*arguments: str | Path, cwd: Path = DOCS / "site") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=500)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does."""
    output = tmp_path_factory.mktemp("site") / "html"
    done = run("docs/site/build.py", output, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return output


def test_every_page_is_in_the_site_and_in_its_search_index(site: Path) -> None:
    """The first test waits for the build of the site, of a hundred pages."""
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix("")
        assert (site / f"{name}.html").exists(), name
        assert f'"{name}"' in index, name


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    page.close()


def search(site: Path, tab: Page, words: str) -> list[str]:
    """The titles that the site finds."""
    tab.goto(f"{site.as_uri()}/index.html")
    tab.get_by_role("textbox", name="Search").fill(words)
    tab.keyboard.press("Enter")
    tab.get_by_text("Search finished, found").wait_for()  # before, the list grows
    return tab.locator("ul.search li a").all_inner_texts()


@pytest.mark.browser
def test_search_works_without_a_server_and_without_other_hosts(site: Path, tab: Page) -> None:
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    assert "Commitments" in search(site, tab, "commitment")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.browser
def test_what_users_look_for_is_found(site: Path, tab: Page) -> None:
    for words, title in (
        ("quota of project was not written", "Troubleshooting"),
        ("no project report for resource please retry after a scrape has succeeded", "Troubleshooting"),
        ("the database took too long over this request", "Troubleshooting"),
        ("423", "Troubleshooting"),
        ("HTTP 423", "Troubleshooting"),
        ("invoice", "For billing systems"),
    ):
        found = search(site, tab, words)
        assert any(one.startswith(title) for one in found), (words, found)


@pytest.mark.browser
def test_decisions_come_after_pages_for_users(site: Path, tab: Page) -> None:
    found = search(site, tab, "autogrow")
    decisions = [number for number, title in enumerate(found) if re.match(r"\d+\. ", title)]
    assert decisions, found
    assert decisions == list(range(len(found) - len(decisions), len(found))), found


@pytest.mark.browser
@pytest.mark.parametrize("page", ["index", "dashboard", "guides/billing", "reference/api"])
def test_everybody_can_use_the_site(site: Path, tab: Page, page: str) -> None:
    require_packages()
    tab.goto(f"{site.as_uri()}/{page}.html")
    assert violations(tab) == []


def test_commands_are_highlighted(site: Path) -> None:
    text = (site / "tutorial.html").read_text(encoding="utf-8")
    for part in (
        '<span class="gp">$ </span><span class="nf">openstack</span>',
        '<span class="na">--service</span>',
        '<span class="go">+-----',
        '<span class="nf">.venv/bin/pip</span>',
    ):
        assert part in text, part


def reference(name: str) -> str:
    return (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")


def test_the_reference_has_everything_that_there_is(site: Path) -> None:
    """As other parts of Limes know it."""
    text = reference("api")
    assert [
        f"{verb} {path}" for path, methods in ROUTES.items() for verb in methods if f"\n### {verb} {path}\n" not in text
    ] == []
    text = reference("policy")
    assert [rule.name for rule in (*RULES, *placement_rules(True)) if f"| `{rule.name}` |" not in text] == []
    text = reference("tables")
    tables = [model._meta.table_name for model in (*MODELS, *ON_POSTGRESQL)]
    assert [name for name in tables if f"### {name}\n" not in text] == []
    text = reference("jobs")
    assert [job.name for job in entries("jobs", "JOBS") if f"| `{job.name}` |" not in text] == []
    text = reference("plugins")
    assert [name for name in Plugins().names if f"\n## `{name}`\n" not in text] == []
    text = reference("openstack-commands")
    commands = [point.name.replace("_", " ") for point in entry_points(group="openstack.limes.v1")]
    assert commands
    assert [name for name in commands if f"\n## openstack {name}\n" not in text] == []
    text = reference("alerts")
    groups = yaml.safe_load((ROOT / "config" / "prometheus" / "alerts.yaml").read_text())["groups"]
    assert [rule["alert"] for group in groups for rule in group["rules"] if f"## {rule['alert']}\n" not in text] == []
    text = reference("commands")
    for name in ("serve", "placement", "placement audit", "collect", "config check", "db upgrade", "plugin test"):
        assert f"\n## limes {name}\n" in text


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


MISTAKES = """
```{toctree}
missing-page
```
[there](missing-file.md) and [there](#missing-anchor) and [there](other.md#missing-heading)
"""


def test_what_is_wrong_fails_the_build(tmp_path: Path) -> None:
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


def test_what_comes_from_another_host_is_found(tmp_path: Path) -> None:
    pages = {
        "script": '<script src="https://example.com/a.js"></script>',
        "image": "<p><img alt='' src='//example.com/a.png'></p>",
        "style": '<link rel="stylesheet" href="http://example.com/a.css">',
        "link": '<a href="https://example.com/">there</a><script src="_static/a.js"></script>',
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(text)
    done = run("-c", "import build, pathlib, sys; print(*build.fetching_pages(pathlib.Path(sys.argv[1])))", tmp_path)
    assert {Path(page).stem for page in done.stdout.split()} == {"script", "image", "style"}
