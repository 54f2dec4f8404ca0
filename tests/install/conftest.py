"""The package as it is built and installed, once for all tests of this folder."""

import contextlib
import fcntl
import os
import shutil
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import blocks_of
from tests.install.installation import Installation

ROOT = Path(__file__).parents[2]
RELEASE = os.environ.get("LIMES_RELEASE")
"""A folder with the wheel and the sdist of a release, to be tried as they are, with the libraries of PyPI (`make release`)."""
_NOT_COPIED = (
    ".git",
    ".venv",
    ".cache",
    ".hypothesis",
    "node_modules",
    "__pycache__",
    "build",
    "dist",
    "var",
    "*.egg-info",
    ".*_cache",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for the built package is marked for it."""
    for item in items:
        if "distributions" in getattr(item, "fixturenames", ()):
            item.add_marker("package")


def commands_of_the_page(test: str) -> str:
    """The commands of `docs/install.md` that a test of this folder tries."""
    page = ROOT / "docs" / "install.md"
    (block,) = (one for one in blocks_of(page) if one.marks.get("run by", "").endswith(test))
    return block.shown


@contextlib.contextmanager
def _once_for_all_workers(tmp_path_factory: pytest.TempPathFactory, name: str) -> Iterator[tuple[Path, bool]]:
    """A folder that the first worker fills while the others wait; answers it, and whether it is filled already."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    base = tmp_path_factory.getbasetemp().parent if is_worker else tmp_path_factory.getbasetemp()
    folder = base / name
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_filled = (folder / "filled").exists()
        folder.mkdir(exist_ok=True)
        yield folder, is_filled
        (folder / "filled").touch()


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist, and the wheel that was built from it."""
    if RELEASE:
        return Path(RELEASE)
    with _once_for_all_workers(tmp_path_factory, "dist") as (folder, is_filled):
        if not is_filled:
            checkout = shutil.copytree(ROOT, folder / "checkout", ignore=shutil.ignore_patterns(*_NOT_COPIED))
            _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, checkout)
    return folder


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (found,) = distributions.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel in a fresh virtual environment, made by the commands of the page.

    The libraries that it needs are those of this environment; for a release, pip gets them from PyPI.
    """
    with _once_for_all_workers(tmp_path_factory, "opt") as (folder, is_filled):
        if not is_filled:
            text = commands_of_the_page("test_installed.py").replace("/opt/limes", str(folder / "limes"))
            options = "" if RELEASE else "--no-deps --no-index"
            text = text.replace(f"dist/{wheel.name}", f"-q {options} {wheel}")
            _run("bash", "-euc", "\n".join(text.splitlines()[:2]))
        if not (is_filled or RELEASE):
            libraries = {sysconfig.get_path("purelib"), *site.getsitepackages()}
            (own,) = (folder / "limes" / "lib").glob("python*/site-packages")
            (own / "zz-libraries.pth").write_text("\n".join(sorted(libraries)) + "\n")
    return Installation(folder / "limes")


def _run(*command: str) -> None:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, check=False, env=env)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
