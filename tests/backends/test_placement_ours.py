"""The plugin `placement` against our own Placement, on both databases, with its quota extension."""

from collections.abc import Iterator

import pytest

from limes.backends import UNLIMITED, ProjectInfo, QuotaBackend, calls
from limes.core.catalog import Catalog, ServiceDef
from tests.backends.conftest import load_quota
from tests.backends.placement_cases import CapacityCases, Hosts, ServiceCases, make_projects, params, project_named
from tests.backends.placement_cloud import PlacementCloud, our_placement
from tests.backends.quota_cases import QuotaCases
from tests.support.processes import free_port

ON_POSTGRESQL = pytest.param("postgresql", marks=[pytest.mark.postgresql, pytest.mark.again])


@pytest.fixture(scope="module", params=["sqlite", ON_POSTGRESQL])
def cloud(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlacementCloud]:
    url = f"sqlite:///{tmp_path_factory.mktemp('placement')}/placement.db"
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        url = server.url(server.create_database())
    with our_placement(url) as found:
        yield found


@pytest.fixture
def projects(cloud: PlacementCloud) -> tuple[ProjectInfo, ProjectInfo]:
    return make_projects(cloud)


@pytest.fixture(scope="module")
def hosts(cloud: PlacementCloud) -> Hosts:
    return Hosts(cloud)


class TestService(ServiceCases):
    """All of the cases."""


class TestCapacity(CapacityCases):
    """All of the cases."""


class TestQuota(QuotaCases):
    @pytest.fixture
    def backend(self, cloud: PlacementCloud) -> QuotaBackend:
        return load_quota("placement", params(cloud.url, quota={"store": "placement"})).quota["compute"]

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        url = f"http://127.0.0.1:{free_port()}"
        return load_quota("placement", params(url, quota={"store": "placement"})).quota["compute"]

    @pytest.fixture
    def project(self, projects: tuple[ProjectInfo, ProjectInfo]) -> ProjectInfo:
        return projects[0]

    @pytest.fixture
    def other_project(self, projects: tuple[ProjectInfo, ProjectInfo]) -> ProjectInfo:
        return projects[1]

    @pytest.fixture
    def new_project(self, projects: tuple[ProjectInfo, ProjectInfo]) -> ProjectInfo:
        return project_named("new")

    def test_without_limits_all_is_unlimited(
        self, backend: QuotaBackend, service: ServiceDef, catalog: Catalog, project: ProjectInfo
    ) -> None:
        report = calls.report_usage(backend, service, project, catalog)
        assert {resource.quota for resource in report.resources.values()} == {UNLIMITED}

    def test_limits_of_other_classes_stay(
        self, cloud: PlacementCloud, backend: QuotaBackend, service: ServiceDef, catalog: Catalog, project: ProjectInfo
    ) -> None:
        limits = {"DISK_GB": {"limit": 5}, "VCPU": {"limit": 3}, "PCPU": {"limit": None}}
        cloud.request("PUT", f"/quotas/{project.id}", json={"quotas": limits})
        calls.set_quota(backend, service, project, {"cores": 20, "ram": 1024, "gold": 0})
        quotas = cloud.request("GET", f"/quotas/{project.id}").json()["quotas"]
        assert {class_: entry["limit"] for class_, entry in quotas.items() if entry["limit"] is not None} == {
            "VCPU": 20,
            "MEMORY_MB": 1024,
            "CUSTOM_GOLD": 0,
            "DISK_GB": 5,
        }

    def test_a_limit_that_somebody_lifts_is_seen(
        self, cloud: PlacementCloud, backend: QuotaBackend, service: ServiceDef, catalog: Catalog, project: ProjectInfo
    ) -> None:
        calls.set_quota(backend, service, project, {"cores": 20, "ram": 1024, "gold": 0})
        cloud.request("DELETE", f"/quotas/{project.id}")
        report = calls.report_usage(backend, service, project, catalog)
        assert {resource.quota for resource in report.resources.values()} == {UNLIMITED}
