"""`limes plugin` with arguments that make no sense."""

from pathlib import Path

import pytest

from limes.app.cli import main
from limes.app.commands.plugin import print_report
from limes.backends import (
    UNLIMITED,
    AZUsage,
    DomainInfo,
    ProjectInfo,
    ResourceDef,
    ResourceUsage,
    ServiceDef,
    UsageReport,
)

QUICKSTART = Path(__file__).parents[3] / "config" / "quickstart.yaml"


@pytest.mark.parametrize("amount", ["", "-1", "1.5", "²", "five"])  # Python takes ² for a digit, but for no number
def test_set_quota_with_what_is_no_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, amount: str
) -> None:
    monkeypatch.setenv("LIMES_CONFIG", str(QUICKSTART))
    assert main(["plugin", "set-quota", "object-store", "p", f"capacity={amount}"]) == 1
    assert capsys.readouterr().err == f"limes: 'capacity={amount}': expected RESOURCE=AMOUNT with a whole number\n"


@pytest.mark.parametrize(
    ("usage", "shown"),
    [
        (ResourceUsage({"any": AZUsage(3)}, 5), "any 3 - - 5"),
        (ResourceUsage({"any": AZUsage(3)}, UNLIMITED, min_quota=2), "any 3 - - unlimited (min 2)"),
        (ResourceUsage({"any": AZUsage(3)}, 5, 0, 0), "any 3 - - 5 (min 0, max 0)"),
    ],
)
def test_a_report_shows_which_quotas_the_backend_accepts(
    capsys: pytest.CaptureFixture[str], usage: ResourceUsage, shown: str
) -> None:
    service = ServiceDef("storage", "storage", {"capacity": ResourceDef("capacity")})
    project = ProjectInfo("p1", "alpha", "d1", DomainInfo("d1", "one"))
    print_report(service, project, UsageReport({"capacity": usage}))
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.split()[:1] == ["capacity"])
    assert " ".join(line.split()[2:]) == shown
