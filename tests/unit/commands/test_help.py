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
