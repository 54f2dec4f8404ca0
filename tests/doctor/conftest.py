"""Patients on both databases, and on one of each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.placement.migrations import placement_migrations
from tests.doctor.patient import Patient
from tests.support.databases import MigratedUrlFactory


@pytest.fixture
def patient(tmp_path: Path, database_url_with: MigratedUrlFactory) -> Patient:
    """A healthy installation, once on SQLite and once on PostgreSQL."""
    return Patient(tmp_path, database_url_with(limes_migrations, placement_migrations))


@pytest.fixture
def light_patient(tmp_path: Path) -> Patient:
    """One whose database is not what the test is about: there is none."""
    return Patient(tmp_path, f"sqlite:///{tmp_path}/limes.db")


@pytest.fixture
def engine(patient: Patient) -> Iterator[Engine]:
    """The patient's database, which is empty."""
    engine = Engine(patient.document["database"]["url"])
    yield engine
    engine.close()


@pytest.fixture
def project(engine: Engine) -> None:
    """One project is known, north/berlin."""
    engine.execute("INSERT INTO domains (id, uuid, name) VALUES (1, 'd-north', 'north')")
    engine.execute(
        "INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting)"
        " VALUES (1, 'p-berlin', 'berlin', 'd-north', 1, FALSE)"
    )


@pytest.fixture
def resource(engine: Engine) -> None:
    """storage/capacity is known."""
    engine.execute("INSERT INTO services (id, type) VALUES (1, 'storage')")
    engine.execute("INSERT INTO resources (id, service_id, name, is_known) VALUES (1, 1, 'capacity', TRUE)")


@pytest.fixture
def usage(engine: Engine, project: None, resource: None) -> None:
    """The project uses 7 GiB in `any`, and 5 in az-one."""
    engine.execute(
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage) VALUES (1, 1, 0, 0, 12)"
    )
    engine.execute(
        "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
        " VALUES (1, 1, 'any', 7, ''), (1, 1, 'az-one', 5, '')"
    )
