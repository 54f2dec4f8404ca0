"""`limes completion`, in the shells themselves."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shtab

from limes.app.cli import main
from limes.app.commands.terminal import COMPLETE_FILES
from tests.setup.needs import FISH, ZSH
from tests.support.machine import require

SHELLS = {"zsh": ZSH, "fish": FISH}

_BASH = """
source ./limes.bash
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}
spec=$(complete -p limes); spec=${{spec##*-F }}; ${{spec%% *}} limes "${{COMP_WORDS[COMP_CWORD]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def test_files_are_completed_as_shtab_does_it() -> None:
    assert COMPLETE_FILES.items() <= shtab.FILE.items()


def script(capsys: pytest.CaptureFixture[str], shell: str) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.fixture
def complete(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Any]:
    """What bash offers for the last word of a command line; an empty one at its end is a word."""
    (tmp_path / "limes.bash").write_text(script(capsys, "bash"))

    def complete(line: Any) -> set[Any]:
        words = " ".join(f"'{word}'" for word in line.split(" "))
        text = _BASH.format(words=words, line=line)
        done = subprocess.run(
            ["bash", "--norc", "--noprofile", "-c", text], capture_output=True, text=True, cwd=tmp_path, timeout=120
        )
        assert (done.returncode, done.stderr) == (0, "")
        return {word.strip() for word in done.stdout.splitlines() if word.strip()}

    return complete


def test_bash_completes_commands(complete: Callable[..., Any]) -> None:
    assert {"serve", "doctor", "db", "plugin", "import-limes", "completion"} <= complete("limes ")
    assert complete("limes d") == {"db", "doctor"}
    assert complete("limes db u") == {"upgrade"}
    assert {"audit", "import"} <= complete("limes placement ")


def test_bash_completes_options_and_choices(complete: Callable[..., Any]) -> None:
    assert complete("limes doctor --js") == {"--json"}
    assert complete("limes doctor --only ") >= {"database", "keystone"}
    assert complete("limes config policy ") == {"limes", "placement"}
    assert complete("limes completion z") == {"zsh"}


def test_bash_completes_files(complete: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "limes.yaml").touch()
    assert "limes.yaml" in complete("limes db upgrade --config lim")


@pytest.mark.parametrize(("shell", "check"), [("zsh", ["-n"]), ("fish", ["--no-execute"]), ("bash", ["-n"])])
def test_shells_understand_their_scripts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, shell: str, check: list[str]
) -> None:
    text = script(capsys, shell)
    for command in ("doctor", "import-limes", "scan-capacity"):
        assert command in text
    if shell in SHELLS:
        require(SHELLS[shell])
    (tmp_path / "script").write_text(text)
    env = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run([shell, *check, tmp_path / "script"], capture_output=True, text=True, env=env, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["completion", "tcsh"])
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
