"""How programs and packages are installed: with apt, uv and pip."""

import os
import sys
from pathlib import Path
from typing import Any, Never

import pytest

from tests.setup import install
from tests.setup.install import SetupError


class Installer:
    """Notes what is run, without `--disable-pip-version-check`, and fails with what has these words."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, config: str, fails: str = "nothing") -> None:
        self.done: list[tuple[list[str], Any]] = []
        self._config, self._fails = config.replace("  ", ""), fails
        monkeypatch.setattr(install, "run", self._run)
        monkeypatch.setattr(sys, "executable", str(root / "python"))

    def _run(self, command: Any, seconds: Any, env: Any = None) -> str:
        texts = [str(part) for part in command if part != "--disable-pip-version-check"]
        if texts[-2:] == ["config", "list"]:
            return self._config
        if self._fails in " ".join(texts):
            raise SetupError("no")
        self.done.append((texts, env))
        return ""


def test_apt_is_run_once_for_what_it_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    for name, script in (("apt-get", f'echo "$DEBIAN_FRONTEND $@" >> {log}'), ("apt-cache", "printf 'zsh\\ncurl\\n'")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    install.apt_install(["zsh", "prometheus", "curl"])
    update, wanted = log.read_text().splitlines()
    assert update.startswith("noninteractive")
    assert update.endswith(" update")
    assert wanted.endswith(" install -y --no-install-recommends zsh curl")


def test_a_command_that_fails_says_its_error() -> None:
    with pytest.raises(SetupError, match=r"^E: Unable to locate package x$"):
        install.run(["sh", "-c", "echo 'E: Unable to locate package x' >&2; echo more >&2; exit 100"], 30)
    with pytest.raises(SetupError, match="ended with code 3"):
        install.run(["sh", "-c", "exit 3"], 30)
    with pytest.raises(SetupError, match="No such file"):
        install.run(["/nonexistent/program"], 30)


def test_a_command_that_hangs_is_ended() -> None:
    with pytest.raises(SetupError, match="took longer than 0 s"):
        install.run(["sleep", "600"], 0.3)


def test_uv_installs_with_the_settings_of_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = """global.extra-index-url='https://one/simple https://two/simple'
        global.find-links='/elsewhere'
        install.constraint='/etc/pins.txt'
        freeze.timeout='3'
        :env:.find-links='/wheels'
        :env:.cert='/etc/cert.pem'
        :env:.no-input='1'"""
    installer = Installer(tmp_path, monkeypatch, config)
    install.pip_install(tmp_path, "-r", "file")
    pip, uv = installer.done
    assert pip[0][-1] == "uv"
    assert uv[0][0] == str(tmp_path / "bin" / "uv")
    options = " ".join(uv[0][uv[0].index("--python") + 2 :])
    assert options == (
        "--extra-index-url https://one/simple --extra-index-url https://two/simple --find-links /wheels"
        " --constraint /etc/pins.txt --index-strategy unsafe-best-match -r file"
    )
    assert uv[1] == {"SSL_CERT_FILE": "/etc/cert.pem"}


@pytest.mark.parametrize(
    ("config", "fails"), [("", "uv pip"), ("", "pip install -q uv"), ("global.proxy='x'", "nothing")]
)
def test_pip_installs_where_uv_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, fails: str
) -> None:
    installer = Installer(tmp_path, monkeypatch, config, fails)
    install.pip_install(tmp_path, "-r", "file")
    if config:
        assert len(installer.done) == 1, "uv does not know this setting"
    command, env = installer.done[-1]
    assert command[1:4] == ["-m", "pip", "install"]
    assert (command[-2:], env) == (["-r", "file"], None)


def test_a_virtual_environment_without_ensurepip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a Debian without python3-venv, where there is a pip all the same."""
    commands: list[list[str]] = []

    def run(command: Any, seconds: Any, env: Any = None) -> str:
        commands.append([str(part) for part in command])
        if commands[-1][1:] == ["-m", "venv", str(tmp_path / "venv")]:
            raise SetupError("ensurepip is not available")
        return ""

    monkeypatch.setattr(install, "run", run)
    install.make_venv(tmp_path / "venv")
    assert [command[2] for command in commands] == ["venv", "venv", "pip"]


def test_no_way_to_a_virtual_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: Any, seconds: Any, env: Any = None) -> Never:
        raise SetupError("ensurepip is not available")

    monkeypatch.setattr(install, "run", run)
    with pytest.raises(SetupError, match=r"in the package python3-venv\): ensurepip is not available"):
        install.make_venv(tmp_path / "venv")
