"""The plugin `placement` against our own Placement, on both databases, with its quota extension."""

from collections.abc import Iterator

import pytest

from limes.backends import UNLIMITED, ProjectInfo, QuotaBackend
from tests.backends.placement_cases import CapacityCases, Hosts, PlacementCases, ServiceCases, make_projects
from tests.backends.placement_cloud import PlacementCloud, our_placement
from tests.backends.quota_cases import quotas, set_quota

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


class TestQuota(PlacementCases):
    OPTIONS = {"quota": {"store": "placement"}}

    def test_without_limits_all_is_unlimited(self, backend: QuotaBackend, project: ProjectInfo) -> None:
        assert set(quotas(backend, project).values()) == {UNLIMITED}

    def test_limits_of_other_classes_stay(
        self, cloud: PlacementCloud, backend: QuotaBackend, project: ProjectInfo
    ) -> None:
        limits = {"DISK_GB": {"limit": 5}, "VCPU": {"limit": 3}, "PCPU": {"limit": None}}
        cloud.request("PUT", f"/quotas/{project.id}", json={"quotas": limits})
        set_quota(backend, project, {"cores": 20, "ram": 1024, "gold": 0})
        found = cloud.request("GET", f"/quotas/{project.id}").json()["quotas"]
        limits = {class_: entry["limit"] for class_, entry in found.items() if entry["limit"] is not None}
        assert limits == {"VCPU": 20, "MEMORY_MB": 1024, "CUSTOM_GOLD": 0, "DISK_GB": 5}

    def test_a_limit_that_somebody_lifts_is_seen(
        self, cloud: PlacementCloud, backend: QuotaBackend, project: ProjectInfo
    ) -> None:
        set_quota(backend, project, {"cores": 20, "ram": 1024, "gold": 0})
        cloud.request("DELETE", f"/quotas/{project.id}")
        assert set(quotas(backend, project).values()) == {UNLIMITED}
