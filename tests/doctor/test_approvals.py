"""Rules that approve requests for quota of projects that do not exist."""

from collections.abc import Iterator

import pytest

from limes.db.engine import Engine
from limes.doctor.finding import Level
from tests.doctor.patient import Patient


@pytest.fixture
def engine(patient: Patient) -> Iterator[Engine]:
    engine = Engine(patient.document["database"]["url"])
    yield engine
    engine.close()


@pytest.fixture
def discovered(engine: Engine) -> None:
    """One project is known."""
    engine.execute("INSERT INTO domains (id, uuid, name) VALUES (1, 'd-north', 'north')")
    engine.execute(
        "INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting)"
        " VALUES (1, 'p-berlin', 'berlin', 'd-north', 1, FALSE)"
    )


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


@pytest.mark.usefixtures("discovered")
def test_scopes_that_match(patient: Patient) -> None:
    approve(patient, "north/.*", None, ".*/berlin")
    found = patient.finding("database.auto_approval")
    assert (found.level, found.message) == (Level.OK, "rules that approve requests: each scope matches a project")


@pytest.mark.usefixtures("discovered")
def test_a_scope_that_matches_no_project(patient: Patient) -> None:
    approve(patient, "north", "north/.*")
    assert patient.ailment("database.auto_approval") == (
        "warning",
        "quota_requests.auto_approval: the scope 'north' of the rule rule-0 matches no project",
        "it has to match the whole of domain/project, such as 'north/berlin'",
    )


@pytest.mark.usefixtures("discovered")
def test_rules_for_all_projects(patient: Patient) -> None:
    approve(patient, None)
    assert patient.findings("database.auto_approval") == []


@pytest.mark.usefixtures("engine")
def test_before_anything_was_discovered(patient: Patient) -> None:
    approve(patient, "north")
    assert patient.findings("database.auto_approval") == []
