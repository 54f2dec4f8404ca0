"""What the tests of quota plugins share: the contract with its usual fixtures, projects, and short ways to ask."""

import uuid
from collections.abc import Mapping
from typing import Any

import pytest
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from limes.backends import DomainInfo, ProjectInfo, QuotaBackend, ResourceUsage, calls
from limes.backends.contract import QuotaBackendContract
from limes.catalog.catalog import Catalog, ServiceDef
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


def usage(backend: QuotaBackend, project: ProjectInfo) -> dict[str, dict[str, int]]:
    """Usage by resource and AZ, without what is 0."""
    return {
        name: {az: one.usage for az, one in resource.per_az.items() if one.usage}
        for name, resource in report(backend, project).items()
    }


def used(backend: QuotaBackend, project: ProjectInfo) -> dict[str, dict[str, int]]:
    """The same, without resources of which nothing is used."""
    return {name: by_az for name, by_az in usage(backend, project).items() if by_az}


def usage_anywhere(backend: QuotaBackend, project: ProjectInfo) -> dict[str, int]:
    """Usage by resource, for services without AZs."""
    return {name: resource.per_az["any"].usage for name, resource in report(backend, project).items()}


def quotas(backend: QuotaBackend, project: ProjectInfo) -> dict[str, Any]:
    """Quota by resource, of those that track it."""
    return {name: one.quota for name, one in report(backend, project).items() if one.quota is not None}


def set_quota(backend: QuotaBackend, project: ProjectInfo, wanted: Mapping[str, int], azs: Any = None) -> None:
    calls.set_quota(backend, backend.describe(), project, wanted, azs)


class QuotaCases(QuotaBackendContract):
    """Subclasses give `backend` and `broken_backend`, and, where the three projects of conftest won't do, these."""

    @pytest.fixture
    def service(self, backend: QuotaBackend) -> ServiceDef:
        return backend.describe()

    @pytest.fixture
    def catalog(self, service: ServiceDef) -> Catalog:
        return Catalog(AZS, [service])


class QuotaCasesWithKeystone(QuotaCases):
    """For services that look whether the project of a quota exists."""

    @pytest.fixture
    def project(self, keystone: RealKeystone) -> ProjectInfo:
        return project_of(keystone, "hamburg")

    @pytest.fixture
    def other_project(self, keystone: RealKeystone) -> ProjectInfo:
        return project_of(keystone, "munich")

    @pytest.fixture
    def new_project(self, keystone: RealKeystone) -> ProjectInfo:
        return project_of(keystone, "vienna")


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
