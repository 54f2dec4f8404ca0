"""Rules that approve requests for quota of projects that do not exist."""

import pytest

from limes.kernel.findings import Level
from tests.doctor.patient import Patient


def approve(patient: Patient, *scopes: str | None) -> None:
    """Adds a rule for each scope."""
    patient.document["services"][0]["params"]["resources"]["capacity"]["quota"] = 0
    patient.document["quota_requests"] = {
        "auto_approval": [
            {"name": f"rule-{number}", "resource": ".*", "up_to_percent": 110 + number}
            | ({} if scope is None else {"scope": scope})
            for number, scope in enumerate(scopes)
        ]
    }


@pytest.mark.usefixtures("project")
def test_scopes_that_match(patient: Patient) -> None:
    approve(patient, "north/.*", None, ".*/berlin")
    found = patient.finding("database.auto_approval")
    assert (found.level, found.message) == (Level.OK, "rules that approve requests: each scope matches a project")


@pytest.mark.usefixtures("project")
def test_a_scope_that_matches_no_project(patient: Patient) -> None:
    approve(patient, "north", "north/.*")
    assert patient.ailment("database.auto_approval") == (
        "warning",
        "quota_requests.auto_approval: the scope 'north' of the rule rule-0 matches no project",
        "it has to match the whole of domain/project, such as 'north/berlin'",
    )


@pytest.mark.usefixtures("project")
def test_rules_for_all_projects(patient: Patient) -> None:
    approve(patient, None)
    assert patient.findings("database.auto_approval") == []


def test_before_anything_was_discovered(patient: Patient) -> None:
    approve(patient, "north")
    assert patient.findings("database.auto_approval") == []
