"""What the tests of quota plugins share: the contract with its usual fixtures, and projects that no service knows."""

import uuid
from collections.abc import Mapping

import pytest
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from limes.backends import DomainInfo, ProjectInfo, QuotaBackend, ResourceUsage, calls
from limes.backends.contract import QuotaBackendContract
from limes.core.catalog import Catalog, ServiceDef
from tests.backends.conftest import AZS
from tests.support.keystone import RealKeystone

NORTH = DomainInfo("x", "north")


def some_project(name: str = "some") -> ProjectInfo:
    return ProjectInfo(uuid.uuid4().hex, name, "x", NORTH)


def project_of(keystone: RealKeystone, name: str) -> ProjectInfo:
    """A project of the session's Keystone."""
    return ProjectInfo(keystone.ids.projects[name], name, "x", NORTH)


def session_of(keystone: RealKeystone, user: str = "limes", project: str = "service") -> Session:
    return Session(v3.Password(**keystone.credentials(user, project)))


def report(backend: QuotaBackend, project: ProjectInfo) -> Mapping[str, ResourceUsage]:
    """The resources of a valid report."""
    service = backend.describe()
    return calls.report_usage(backend, service, project, Catalog(AZS, [service])).resources


class QuotaCases(QuotaBackendContract):
    """Subclasses give `backend` and `broken_backend`, and, where the three projects of conftest won't do, these."""

    @pytest.fixture
    def service(self, backend: QuotaBackend) -> ServiceDef:
        return backend.describe()

    @pytest.fixture
    def catalog(self, service: ServiceDef) -> Catalog:
        return Catalog(AZS, [service])


class QuotaCasesOfNewProjects(QuotaCases):
    """For real services, which keep what one test has set: each test has projects of its own."""

    @pytest.fixture
    def project(self) -> ProjectInfo:
        return some_project()

    @pytest.fixture
    def other_project(self) -> ProjectInfo:
        return some_project()

    @pytest.fixture
    def new_project(self) -> ProjectInfo:
        return some_project()
