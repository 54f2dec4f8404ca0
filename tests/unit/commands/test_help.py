"""What `--help` says."""

import pytest

from limes.cli import main


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
