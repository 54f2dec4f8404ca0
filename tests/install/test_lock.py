"""requirements.lock: it has all that pyproject.toml asks for, with hashes, and installs from any index."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
ENTRY = re.compile(r"(?P<requirement>[^\s\\]+==[^\\]+?) \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)")


def entries() -> dict[Any, Any]:
    """Its requirements, by name."""
    found = [Requirement(match["requirement"]) for match in ENTRY.finditer(LOCK.read_text())]
    return {canonicalize_name(one.name): one for one in found}


def version(requirement: Any) -> Any:
    (pin,) = requirement.specifier
    assert pin.operator == "=="
    return pin.version


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({**default_environment(), "extra": ""})


def test_it_has_nothing_but_pinned_versions_with_hashes() -> None:
    text = re.sub(r"^#.*\n", "", LOCK.read_text(), flags=re.MULTILINE)
    assert ENTRY.sub("", text) == ""
    assert len(entries()) > 40


def test_it_names_no_index() -> None:
    assert not re.search(r"https?:|file:|--(?:extra-)?index-url|--find-links", LOCK.read_text())


def test_it_agrees_with_pyproject() -> None:
    locked, document = entries(), project()
    for text in (*document["project"]["dependencies"], *document["build-system"]["requires"]):
        wanted = Requirement(text)
        pinned = locked.get(canonicalize_name(wanted.name))
        assert pinned is not None, f"{wanted.name} is not in requirements.lock: run `make lock`"
        assert wanted.specifier.contains(version(pinned)), f"{wanted} does not allow {pinned}: run `make lock`"


def test_it_has_what_these_need_in_turn() -> None:
    locked = entries()
    for name in locked:
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another platform, or another Python
        for wanted in map(Requirement, distribution.requires or []):
            assert not applies(wanted) or canonicalize_name(wanted.name) in locked, f"{name} needs {wanted}"


def test_what_may_break_us_has_an_upper_bound() -> None:
    """os-traits and os-resource-classes are lists of names that only grow."""
    free = {"os-traits", "os-resource-classes"}
    for text in project()["project"]["dependencies"]:
        requirement = Requirement(text)
        operators = {one.operator for one in requirement.specifier}
        assert operators >= ({">="} if requirement.name in free else {">=", "<"}), text


def pip_install(file: Path) -> str:
    """What pip says without an index: it cannot go on, but by then it has read every line."""
    options = ["--require-hashes", "--no-deps", "--no-index", "--dry-run", "--ignore-installed"]
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *options, "-r", file]
    return subprocess.run(command, capture_output=True, text=True, timeout=120).stderr


def test_pip_reads_all_of_it() -> None:
    first = next(iter(entries().values()))
    assert f"ERROR: No matching distribution found for {first.name}=={version(first)}" in pip_install(LOCK)


def test_pip_would_say_if_it_could_not(tmp_path: Path) -> None:
    file = tmp_path / "requirements.lock"
    file.write_text(f"{LOCK.read_text()}attrs = 1\n")
    assert "Invalid requirement: 'attrs = 1'" in pip_install(file)


@pytest.mark.parametrize("option", ["--require-hashes -r requirements.lock", "--no-deps --no-build-isolation ."])
def test_the_container_is_made_with_it(option: str) -> None:
    assert option in (ROOT / "config" / "Containerfile").read_text()
