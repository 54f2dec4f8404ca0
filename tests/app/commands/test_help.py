"""What `--help` says."""

import shlex

import pytest

from limes.app.cli import build_parser, main
from limes.app.commands.parser import EXAMPLES
from tests.app.commands.test_all_commands import COMMANDS


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        (["placement"], "usage: limes placement [-h] [--config FILE] [ACTION ...]"),
        (["placement", "audit"], "usage: limes placement audit [-h]"),
    ],
)
def test_an_action_of_placement_may_be_left_out(
    capsys: pytest.CaptureFixture[str], command: list[str], usage: str
) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    assert capsys.readouterr().out.startswith(usage)


@pytest.mark.parametrize("group", [(), ("db",), ("config",), ("plugin",), ("notify",)])
def test_a_group_of_commands_alone_prints_its_help(capsys: pytest.CaptureFixture[str], group: tuple[str, ...]) -> None:
    assert main(group) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"usage: {' '.join(['limes', *group])} [-h]")
    assert "ACTION" in captured.out or "COMMAND" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("serv", "serve"),
        ("doktor", "doctor"),
        ("db upgrad", "upgrade"),
        ("config polcy", "policy"),
        ("doctor --only databse", "database"),
        ("placement adit", "audit"),
    ],
)
def test_what_was_meant(capsys: pytest.CaptureFixture[str], typed: str, meant: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(typed.split())
    assert ended.value.code == 2
    assert f"did you mean {meant}?" in capsys.readouterr().err


def test_nothing_is_suggested_for_what_is_like_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["xyz"])
    assert "did you mean" not in capsys.readouterr().err


def test_each_command_has_examples_that_work() -> None:
    found = {parser.prog: parser for parser, _ in COMMANDS}
    assert set(EXAMPLES) == set(found)
    for name, examples in EXAMPLES.items():
        for example in examples:
            assert f"  {example}\n" in found[name].format_help()
            assert example.startswith(name)
            build_parser().parse_args(shlex.split(example)[1:])
