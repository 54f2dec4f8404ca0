"""Releases of Limes that run side by side: this checkout, and an earlier commit's wheel in an environment of its own."""

import os
import site
import subprocess
import sys
import sysconfig
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.setup.install import make_venv, pip_install

ROOT = Path(__file__).parents[2]
PREVIOUS = "a30b0b0ef4ad264e0264b1732a0de3466208b2f9"
"""The last state before there was one first migration: this release upgrades databases from there on, until there is a
tag. $LIMES_PREVIOUS names another commit or tag."""
_PLUGINS = ROOT / "tests" / "faults" / "entry_points"


@dataclass(frozen=True)
class Release:
    """How its `limes` is called. The plugin of the fault tests comes with it."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, env: Mapping[str, str], codes: Collection[int] = (0,)) -> str:
        """Runs a command that has to end with one of these codes, and returns its output."""
        done = subprocess.run(
            [*self.command, *arguments],
            env={**os.environ, **self.env, **env},
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode in codes, f"{self.name}: {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout


def this_release() -> Release:
    """The checkout as it stands."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "plugins", _PLUGINS)))
    return Release("this release", (sys.executable, "-m", "limes"), {"PYTHONPATH": path})


def previous_release(folder: Path) -> Release:
    """Builds the wheel of the previous release and installs it. Skips the test where git does not have that commit."""
    source, venv, path = folder / "source", folder / "venv", folder / "path"
    for made in (source, path):
        made.mkdir()
    _unpack(_previous_commit(), source)
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(source)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (wheel,) = folder.glob("*.whl")
    make_venv(venv)
    pip_install(venv, "--no-deps", "--no-index", str(wheel))
    (own,) = (venv / "lib").glob("python*/site-packages")
    # after its own folder: our environment's libraries, but not this checkout, whose .pth file is not read there
    libraries = {sysconfig.get_path("purelib"), *site.getsitepackages()}
    (own / "zz-libraries.pth").write_text("\n".join(sorted(libraries)) + "\n")
    (path / "tests").symlink_to(ROOT / "tests")  # where the plugin is, without this checkout's `limes` beside it
    # `limes api` becomes `python -m gunicorn`, which looks into the current folder first: into this checkout
    env = {"PYTHONPATH": f"{path}:{_PLUGINS}", "PYTHONSAFEPATH": "1"}
    where = [str(venv / "bin" / "python"), "-c", "import limes; print(limes.__file__)"]
    assert subprocess.check_output(where, env={**os.environ, **env}, cwd=ROOT, text=True).startswith(str(venv))
    return Release("the previous release", (str(venv / "bin" / "limes"),), env)


def _previous_commit() -> str:
    """The newest tag before this commit; without one, `PREVIOUS`; without that, the parent of the newest migration."""
    tag = _git("describe", "--tags", "--abbrev=0", "HEAD^")
    newest = _git(
        "log", "-1", "--format=%H", "--diff-filter=A", "--", "limes/db/migrations", "limes/placement/migrations"
    )
    for name in (os.environ.get("LIMES_PREVIOUS"), tag, PREVIOUS, f"{newest}^"):
        if name and (commit := _git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")):
            return commit
    pytest.skip("the previous release is not in git's history here (a shallow clone, or none)")


def _unpack(commit: str, folder: Path) -> None:
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit], capture_output=True, check=True, timeout=100)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True, timeout=100)


def _git(*arguments: str) -> str:
    """What git prints; nothing where there is no git, or no repository that it trusts."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, timeout=100)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
