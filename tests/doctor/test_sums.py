"""Stored sums that are wrong, or will be."""

import pytest

from limes.app.cli import main
from limes.db.engine import Engine
from limes.kernel.findings import Level
from tests.doctor.patient import Patient


@pytest.mark.parametrize("databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
@pytest.mark.usefixtures("project", "resource")
def test_stored_sums(
    patient: Patient, engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody has changed the table, or loaded rows with the triggers off."""
    assert patient.finding("database.sums").level is Level.OK
    engine.execute("ALTER TABLE project_resources DISABLE TRIGGER USER")
    engine.execute("INSERT INTO project_resources (project_id, resource_id, quota, usage) VALUES (1, 1, 10, 5)")
    off, wrong = patient.findings("database.sums")
    assert (off.level, wrong.level, wrong.mend) == (Level.PROBLEM, Level.PROBLEM, "limes db rebuild-sums")
    assert off.message == "triggers that keep the sums over projects are disabled: project_resources"
    assert wrong.message == (
        "2 stored sums over projects are wrong, so that reports and room for commitments are:"
        " quota and usage (1, 1): None, not (10, 5, 5, False, 0, 0, None);"
        " quota and usage (0, 1): None, not (10, 5, 5, False, 0, 0, None)"
    )
    engine.execute("ALTER TABLE project_resources ENABLE TRIGGER USER")
    monkeypatch.setenv("LIMES_CONFIG", patient.write())
    assert main(["db", "rebuild-sums"]) == 0
    assert capsys.readouterr().out == "sums over projects: computed again\n"
    assert patient.finding("database.sums").level is Level.OK
