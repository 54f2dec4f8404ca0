"""What the tests of quota plugins share: the contract with its usual fixtures, and projects that no service knows."""

import uuid

import pytest
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from limes.backends import DomainInfo, ProjectInfo, calls
from limes.backends.contract import QuotaBackendContract
from limes.core.catalog import Catalog
from tests.backends.conftest import AZS

NORTH = DomainInfo("x", "north")


def some_project(name="some"):
    return ProjectInfo(uuid.uuid4().hex, name, "x", NORTH)


def project_of(keystone, name):
    """A project of the session's Keystone."""
    return ProjectInfo(keystone.ids.projects[name], name, "x", NORTH)


def session_of(keystone, user="limes", project="service"):
    return Session(v3.Password(**keystone.credentials(user, project)))


def report(backend, project):
    """The resources of a valid report."""
    service = backend.describe()
    return calls.report_usage(backend, service, project, Catalog(AZS, [service])).resources


class QuotaCases(QuotaBackendContract):
    """Subclasses give `backend` and `broken_backend`, and, where the three projects of conftest won't do, these."""

    @pytest.fixture
    def service(self, backend):
        return backend.describe()

    @pytest.fixture
    def catalog(self, service):
        return Catalog(AZS, [service])


class QuotaCasesOfNewProjects(QuotaCases):
    """For real services, which keep what one test has set: each test has projects of its own."""

    @pytest.fixture
    def project(self):
        return some_project()

    @pytest.fixture
    def other_project(self):
        return some_project()

    @pytest.fixture
    def new_project(self):
        return some_project()
