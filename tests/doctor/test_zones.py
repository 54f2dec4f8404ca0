"""Usage in unknown zones, where commitments are for one zone."""

from collections.abc import Iterator

import pytest

from limes.db.engine import Engine
from limes.doctor.finding import Level
from tests.doctor.patient import Patient

RULE = {"resource": "storage/capacity", "commitment_durations": ["1 year"]}


@pytest.fixture
def engine(patient: Patient) -> Iterator[Engine]:
    """One project uses 7 GiB in `any`, and 5 in az-one."""
    engine = Engine(patient.document["database"]["url"])
    for sql in (
        "INSERT INTO services (id, type) VALUES (1, 'storage')",
        "INSERT INTO resources (id, service_id, name, is_known) VALUES (1, 1, 'capacity', TRUE)",
        "INSERT INTO domains (id, uuid, name) VALUES (1, 'd-north', 'north')",
        "INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting)"
        " VALUES (1, 'p-berlin', 'berlin', 'd-north', 1, FALSE)",
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage) VALUES (1, 1, 0, 0, 12)",
        "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
        " VALUES (1, 1, 'any', 7, ''), (1, 1, 'az-one', 5, '')",
    ):
        engine.execute(sql)
    yield engine
    engine.close()


@pytest.mark.usefixtures("engine")
def test_usage_in_unknown_zones(patient: Patient) -> None:
    patient.document["resource_behavior"] = [{**RULE, "commitment_is_az_aware": True}]
    level, message, mend = patient.ailment("database.zones")
    assert (level, message) == (
        "warning",
        "7 GiB of storage/capacity used in unknown zones (projects: 1); commitments are for one zone, so this much is"
        " never sold",
    )
    assert "commitment_is_az_aware: false" in mend


@pytest.mark.usefixtures("engine")
def test_where_commitments_are_for_no_zone(patient: Patient) -> None:
    patient.document["resource_behavior"] = [RULE]
    assert patient.findings("database.zones") == []


def test_all_usage_has_its_zone(patient: Patient, engine: Engine) -> None:
    patient.document["resource_behavior"] = [{**RULE, "commitment_is_az_aware": True}]
    engine.execute("DELETE FROM project_az_resources WHERE az = 'any'")
    assert {one.level for one in patient.findings("database")} == {Level.OK}
