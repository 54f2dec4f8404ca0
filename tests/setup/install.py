"""Installs what is missing, as far as this machine lets us: as root on Debian with apt, else with uv in the checkout."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

APT_SECONDS = 600
PIP_SECONDS = 1500
_AS_FOR_PIP = ("index-url", "extra-index-url", "find-links", "constraint")
"""Settings of pip that are options of uv as well."""
_IN_THE_ENVIRONMENT = {"cert": "SSL_CERT_FILE", "timeout": "UV_HTTP_TIMEOUT", "default-timeout": "UV_HTTP_TIMEOUT"}
_WITHOUT_EFFECT = (
    *("disable-pip-version-check", "no-input", "no-color", "progress-bar", "quiet", "root-user-action"),
    "require-virtualenv",
)
"""On what is installed."""
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
    """Runs `uv pip install`, which takes a fifth of the time of `pip install`, or that one where uv does not succeed. Both
    with whatever index this machine's configuration of pip names."""
    python = venv / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    try:
        options, env = _options_of_uv(run([python, "-m", "pip", "config", "list"], PIP_SECONDS))
        uv = next((one for one in (Path(sys.executable).with_name("uv"), python.with_name("uv")) if one.exists()), None)
        if uv is None:
            run([*pip, "uv"], PIP_SECONDS)
            uv = python.with_name("uv")
        run([uv, "pip", "install", "-q", "--python", python, *options, *arguments], PIP_SECONDS, env)
    except SetupError:
        run([*pip, *arguments], PIP_SECONDS)


def _options_of_uv(config: str) -> tuple[list[str], dict[str, str]]:
    """Returns options and environment variables for uv, which does not read the configuration of pip: what `pip config
    list` says of it. Raises `SetupError` for what only pip knows."""
    options: list[str] = []
    env: dict[str, str] = {}
    settings = {}
    for section in ("global", "install", ":env:"):  # what comes later counts
        lines = [line.partition("=") for line in config.splitlines() if line.startswith(f"{section}.")]
        settings |= {name.removeprefix(f"{section}."): ast.literal_eval(value) for name, _, value in lines}
    for name, value in settings.items():
        if name in _AS_FOR_PIP:
            options += [option for each in value.split() for option in (f"--{name}", each)]
        elif name in _IN_THE_ENVIRONMENT:
            env[_IN_THE_ENVIRONMENT[name]] = value
        elif name not in _WITHOUT_EFFECT:
            raise SetupError(f"only pip knows its setting {name}")
    if "extra-index-url" in settings:
        options += ["--index-strategy", "unsafe-best-match"]  # the newest version of all indexes, as pip has it
    return options, env


def is_newer(stamp: Path, *sources: Path) -> bool:
    """Whether a stamp was written after all of its sources."""
    return stamp.exists() and all(stamp.stat().st_mtime >= source.stat().st_mtime for source in sources)
