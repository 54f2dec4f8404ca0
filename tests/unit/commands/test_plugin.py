"""`limes plugin` with arguments that make no sense."""

from pathlib import Path

import pytest

from limes.cli import main

QUICKSTART = Path(__file__).parents[3] / "config" / "quickstart.yaml"


@pytest.mark.parametrize("amount", ["", "-1", "1.5", "²", "five"])  # Python takes ² for a digit, but for no number
def test_set_quota_with_what_is_no_number(capsys, monkeypatch, amount):
    monkeypatch.setenv("LIMES_CONFIG", str(QUICKSTART))
    assert main(["plugin", "set-quota", "object-store", "p", f"capacity={amount}"]) == 1
    assert capsys.readouterr().err == f"limes: 'capacity={amount}': expected RESOURCE=AMOUNT with a whole number\n"
