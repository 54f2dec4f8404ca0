"""What a release consists of agrees: versions, changelog, metadata, and the pages for contributors."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from limes import __version__
from tests.docs.blocks import ROOT

PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


@pytest.fixture
def project() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def headings(name: str) -> list[str]:
    return re.findall(r"^## (.+)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)


def test_the_changelog_has_what_is_unreleased_and_then_each_release() -> None:
    unreleased, *releases = headings("CHANGELOG.md")
    assert unreleased == "Unreleased"
    found = [re.fullmatch(r"(\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)", heading) for heading in releases]
    assert all(found), releases
    versions = [Version(one[1]) for one in found if one]
    assert all(newer > older for newer, older in pairwise(versions))
    assert versions[0] == Version(__version__)


def test_the_newest_release_begins_with_what_operators_have_to_do() -> None:
    _, _, newest, *_ = re.split(r"^## .+$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert newest.lstrip().startswith("### What operators have to do\n")


def test_the_version_is_the_same_everywhere(project: Any) -> None:
    assert project["version"] == __version__
    major, *_ = __version__.split(".")
    assert f"| {major}.x, the newest | yes |" in (ROOT / "SECURITY.md").read_text()
    wheels = re.findall(
        r"limes-([0-9.]+)-py3-none-any\.whl", (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    )
    assert set(wheels) == {__version__}


def test_the_metadata_promises_nothing_that_is_not_there(project: Any) -> None:
    assert project["authors"]
    pythons = {text.rpartition(" ")[2] for text in project["classifiers"] if ":: Python :: 3." in text}
    assert project["requires-python"].removeprefix(">=") == min(pythons, key=Version)
    assert [url for url in project.get("urls", {}).values() if "example" in url] == []


def test_the_tests_have_all_that_the_site_and_the_client_need(project: Any) -> None:
    assert "limes[docs,openstack]" in project["optional-dependencies"]["dev"]


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    page = ROOT / name
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8")):
        file = ROOT / target if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_every_target_that_contributors_are_told_of_exists() -> None:
    told = set(re.findall(r"`make ([a-z-]+)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert told
    assert told <= targets
