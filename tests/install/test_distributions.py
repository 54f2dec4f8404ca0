"""What is in wheel and sdist."""

import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_EXAMPLES = (".yaml", ".json", ".service", ".wsgi", ".ini", ".conf", ".tpl", ".txt")
_NOT_SHIPPED = ("limes/ui/frontend/", "limes/ui/README.md", "limes/ui/static/manifest.json")


def files(*folders: str) -> Iterator[str]:
    """Files of the packages as they stand in the checkout, by their path in the wheel."""
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix().removeprefix("plugins/")
            if path.is_file() and "__pycache__" not in path.parts and not name.startswith(_NOT_SHIPPED):
                yield name


def test_the_wheel_has_every_file_of_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if not name.startswith("limes-")}
    assert shipped == set(files("limes", "plugins/limes_plugins", "plugins/limes_osc"))
    assert {"limes/py.typed", "limes_plugins/py.typed", "limes_osc/py.typed"} <= shipped
    assert any(name.startswith("limes/ui/static/assets/") for name in shipped)
    assert "limes/db/migrations/0001_initial.py" in shipped


def test_the_wheel_has_what_an_installation_begins_with(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name.partition(".data/data/share/limes/")[2] for name in archive.namelist()]
    shipped = {name for name in names if name}
    examples = (ROOT / "config").rglob("*.*")
    kept = {path.name for path in examples if path.suffix in _EXAMPLES}
    assert {Path(name).name for name in shipped} == {*kept, "README.md", "requirements.lock"}


def test_the_sdist_has_what_one_needs_to_read_and_to_test_it(distributions: Path) -> None:
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in (
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "Makefile",
        "requirements.lock",
        "config/Containerfile",
        "config/gunicorn.conf.py",
        "docs/install.md",
        "tests/conftest.py",
        "limes/ui/frontend/package.json",
    ):
        assert wanted in names
    assert not [name for name in names if "node_modules" in name or "__pycache__" in name]


def test_the_metadata(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith("dist-info/METADATA"))
        metadata = archive.read(path).decode()
    assert f"\nVersion: {project['version']}\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert metadata.count("\nRequires-Dist: ") >= len(project["dependencies"])
