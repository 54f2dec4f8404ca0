"""Patients on both databases, and on one of each."""

from pathlib import Path

import pytest

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
