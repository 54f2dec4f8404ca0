"""Installs what is missing, as far as this machine lets us: with apt as root on Debian, else with pip in the checkout."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

APT_SECONDS = 600
PIP_SECONDS = 1500
_APT = ["-qq", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20", "-o", "DPkg::Lock::Timeout=120"]


class SetupError(Exception):
    """Something could not be installed; says why in one line."""


def run(command: Sequence[str | Path], seconds: float, env: Mapping[str, str] | None = None) -> str:
    """Runs a command quietly. Answers its standard output, and raises `SetupError` with its last line if it fails."""
    name = " ".join(str(part) for part in command[:3])
    try:
        done = subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            env={**os.environ, **(env or {})},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"{name} took longer than {seconds:.0f} s") from error
    except OSError as error:
        raise SetupError(f"{name}: {error.strerror or error}") from error
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        told = [line for line in lines if line.startswith(("ERROR", "E:", "error"))] or lines
        raise SetupError(told[-1] if told else f"{name} ended with code {done.returncode}")
    return done.stdout


def may_use_apt() -> bool:
    """Whether packages of Debian can be installed here."""
    return shutil.which("apt-get") is not None and os.geteuid() == 0


def apt_install(packages: Sequence[str]) -> None:
    """Installs those of these packages that there are, in one run. No service of theirs is started."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    run(["apt-get", *_APT, "update"], APT_SECONDS, quiet)
    known = run(["apt-cache", "pkgnames"], 60).split()
    if wanted := [name for name in packages if name in known]:
        run(["apt-get", *_APT, "install", "-y", "--no-install-recommends", *wanted], APT_SECONDS, quiet)


def make_venv(folder: Path) -> None:
    """Makes a virtual environment with pip, also where Debian's package python3-venv is missing."""
    if (folder / "bin" / "pip").exists():
        return
    python = sys.executable
    ways: list[list[list[str | Path]]] = [
        [[python, "-m", "venv", folder]],
        [[python, "-m", "venv", "--without-pip", folder], [python, "-m", "pip", "-q", "--python", folder, "install", "pip"]],
        [[python, "-m", "virtualenv", "-q", folder]],
        [["uv", "venv", "-q", "--seed", "--python", python, folder]],
    ]  # fmt: skip
    reasons = []
    for way in ways:
        shutil.rmtree(folder, ignore_errors=True)
        try:
            for command in way:
                run(command, PIP_SECONDS)
        except SetupError as error:
            reasons.append(str(error))
        else:
            return
    shutil.rmtree(folder, ignore_errors=True)
    raise SetupError(f"'{python} -m venv' failed (on Debian, it is in the package python3-venv): {reasons[0]}")


def pip_install(venv: Path, *arguments: str) -> None:
    """Runs `pip install`, with whatever index this machine's configuration of pip names."""
    run([venv / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments], PIP_SECONDS)


def is_newer(stamp: Path, *sources: Path) -> bool:
    """Whether a stamp was written after all of its sources."""
    return stamp.exists() and all(stamp.stat().st_mtime >= source.stat().st_mtime for source in sources)
