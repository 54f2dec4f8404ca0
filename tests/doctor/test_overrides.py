"""Quota overrides that have no effect."""

import json

import pytest

from limes.db.engine import Engine
from limes.kernel.findings import Level
from tests.doctor.patient import Patient


@pytest.fixture(autouse=True)
def _growing(patient: Patient, engine: Engine, usage: None) -> None:
    """Quota of storage/capacity grows by itself. The project has committed to 20 in az-one."""
    autogrow = {"growth_multiplier": 1.2, "usage_data_retention_period": "48h"}
    patient.document["quota_distribution_configs"] = [{"resource": ".*", "model": "autogrow", "autogrow": autogrow}]
    patient.document["quota_overrides_path"] = "overrides.json"
    patient.document["services"][0]["params"]["resources"]["capacity"]["quota"] = 0
    engine.execute(
        "INSERT INTO project_commitments (id, uuid, project_id, resource_id, az, amount, duration, status, created_at,"
        " creator_uuid, creator_name, transfer_status, confirmed_at, expires_at)"
        " VALUES (1, 'c-1', 1, 1, 'az-one', 20, '1 year', 'confirmed', 1, 'u', 'u', '', 1, 9999999999)"
    )


def override(patient: Patient, *projects: tuple[str, str, str]) -> None:
    """Pins quota: domain, project, quota."""
    document: dict[str, dict[str, object]] = {}
    for domain, project, quota in projects:
        document.setdefault(domain, {})[project] = {"storage": {"capacity": quota}}
    patient.path.with_name("overrides.json").write_text(json.dumps(document))


def test_all_have_an_effect(patient: Patient) -> None:
    override(patient, ("north", "berlin", "27 GiB"))
    found = patient.finding("database.overrides")
    assert (found.level, found.message) == (Level.OK, "quota overrides: 1, all for projects that exist")


def test_below_what_is_needed(patient: Patient) -> None:
    override(patient, ("north", "berlin", "26 GiB"))
    assert patient.ailment("database.overrides") == (
        "warning",
        "quota override north/berlin: storage/capacity 26 GiB: usage and commitments need 27 GiB, so quota is that",
        "raise the override, or wait until the project needs less",
    )


def test_projects_that_do_not_exist(patient: Patient) -> None:
    override(patient, ("north", "berlin", "27 GiB"), *(("south", f"p-{number}", "1 GiB") for number in range(12)))
    found = patient.findings("database.overrides")
    assert [one.level for one in found] == [Level.WARNING] * 11
    assert (
        found[0].message == "quota override south/p-0: storage/capacity: there is no project 'p-0' in a domain 'south'"
    )
    assert found[-1].message == "2 more quota overrides have no effect"


def test_without_a_file_there_is_nothing_to_say(patient: Patient) -> None:
    del patient.document["quota_overrides_path"]
    assert patient.findings("database.overrides") == []
