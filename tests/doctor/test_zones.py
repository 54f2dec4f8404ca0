"""Usage in unknown zones, where commitments are for one zone."""

import pytest

from limes.db.engine import Engine
from limes.kernel.findings import Level
from tests.doctor.patient import Patient

RULE = {"resource": "storage/capacity", "commitment_durations": ["1 year"]}


pytestmark = pytest.mark.usefixtures("usage")


def test_usage_in_unknown_zones(patient: Patient) -> None:
    patient.document["resource_behavior"] = [{**RULE, "commitment_is_az_aware": True}]
    level, message, mend = patient.ailment("database.zones")
    assert (level, message) == (
        "warning",
        "7 GiB of storage/capacity used in unknown zones (projects: 1); commitments are for one zone, so this much is"
        " never sold",
    )
    assert "commitment_is_az_aware: false" in mend


def test_where_commitments_are_for_no_zone(patient: Patient) -> None:
    patient.document["resource_behavior"] = [RULE]
    assert patient.findings("database.zones") == []


def test_all_usage_has_its_zone(patient: Patient, engine: Engine) -> None:
    patient.document["resource_behavior"] = [{**RULE, "commitment_is_az_aware": True}]
    engine.execute("DELETE FROM project_az_resources WHERE az = 'any'")
    assert {one.level for one in patient.findings("database")} == {Level.OK}
