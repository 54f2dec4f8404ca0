"""What holds for the plugin `placement` with whichever Placement. Subclasses give the fixtures `cloud`, `projects` and
`hosts`."""

import uuid
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from limes.backends import (
    AZCapacity,
    BackendError,
    CapacityBackend,
    DomainInfo,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    ServiceDef,
    Unit,
    calls,
)
from limes.backends.contract import BrokenCapacityContract, CapacityBackendContract
from limes.catalog.catalog import Catalog
from tests.backends.conftest import AZS, load_capacity, load_quota
from tests.backends.placement_cloud import PlacementCloud
from tests.backends.quota_cases import QuotaCases, usage_anywhere
from tests.support.processes import free_port

GERMANY = DomainInfo("d1", "germany")
RESOURCES = {
    "cores": {"class": "VCPU", "category": "performance"},
    "ram": "MEMORY_MB",
    "gold": {"class": "CUSTOM_GOLD", "unit": "KiB", "contained_in": "cores"},
}
TOKEN = {"type": "token", "token": "admin"}


def project_named(name: str) -> ProjectInfo:
    return ProjectInfo(uuid.uuid4().hex, name, "d1", GERMANY)


def make_projects(cloud: PlacementCloud) -> tuple[ProjectInfo, ProjectInfo]:
    """alpha uses something by two types of consumers, beta something else."""
    cloud.request("PUT", "/resource_classes/CUSTOM_GOLD")
    alpha, beta = project_named("alpha"), project_named("beta")
    host = cloud.provider("usage-host", {"VCPU": {"total": 100}, "MEMORY_MB": {"total": 10000}})
    cloud.allocate(alpha.id, host, VCPU=2, MEMORY_MB=512)
    cloud.allocate(alpha.id, host, VCPU=1)
    cloud.allocate(alpha.id, host, "MIGRATION", VCPU=4, MEMORY_MB=1024)
    cloud.allocate(beta.id, host, VCPU=9)
    return alpha, beta


def params(url: str, **others: Any) -> dict[Any, Any]:
    return {"area": "compute", "endpoint": url, "auth": TOKEN, "resources": RESOURCES, **others}


def usages_for(request: Any, by_type: dict[Any, Any]) -> dict[Any, Any] | Counter[Any]:
    """As the microversion wants them: types of consumers are known since 1.38."""
    if request.headers["OpenStack-API-Version"] == "placement 1.38":
        return by_type
    sums = Counter()
    for amounts in by_type.values():
        sums.update({class_: amount for class_, amount in amounts.items() if class_ != "consumer_count"})
    return sums


class PlacementCases(QuotaCases):
    OPTIONS: Mapping[str, Any] = {}
    """Further params."""

    @pytest.fixture
    def backend(self, cloud: PlacementCloud) -> QuotaBackend:
        return load_quota("placement", params(cloud.url, **self.OPTIONS)).quota["compute"]

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        url = f"http://127.0.0.1:{free_port()}"
        return load_quota("placement", params(url, **self.OPTIONS)).quota["compute"]

    @pytest.fixture
    def project(self, projects: tuple[ProjectInfo, ProjectInfo]) -> ProjectInfo:
        return projects[0]

    @pytest.fixture
    def other_project(self, projects: tuple[ProjectInfo, ProjectInfo]) -> ProjectInfo:
        return projects[1]

    @pytest.fixture
    def new_project(self) -> ProjectInfo:
        return project_named("new")


class ServiceCases(PlacementCases):
    def test_description(self, service: ServiceDef) -> None:
        assert service.resources == {
            "cores": ResourceDef("cores", category="performance", tracks_quota=False),
            "ram": ResourceDef("ram", Unit.MIB, tracks_quota=False),
            "gold": ResourceDef("gold", Unit.KIB, contained_in="cores", tracks_quota=False),
        }

    def test_usage_of_all_consumers(
        self, backend: QuotaBackend, project: ProjectInfo, other_project: ProjectInfo
    ) -> None:
        assert usage_anywhere(backend, project) == {"cores": 7, "ram": 1536, "gold": 0}
        assert usage_anywhere(backend, other_project) == {"cores": 9, "ram": 0, "gold": 0}

    @pytest.mark.parametrize(
        ("consumer_types", "expected"),
        [
            ({"exclude": ["MIGRATION"]}, {"cores": 3, "ram": 512, "gold": 0}),
            ({"include": ["MIGRATION", "OTHER"]}, {"cores": 4, "ram": 1024, "gold": 0}),
            ({"include": ["MIGRATION"], "exclude": ["MIGRATION"]}, {"cores": 0, "ram": 0, "gold": 0}),
        ],
    )
    def test_usage_of_some_consumers(
        self,
        cloud: PlacementCloud,
        project: ProjectInfo,
        consumer_types: dict[str, list[str]],
        expected: dict[str, int],
    ) -> None:
        backend = load_quota("placement", params(cloud.url, consumer_types=consumer_types)).quota["compute"]
        assert usage_anywhere(backend, project) == expected

    def test_a_wrong_token_is_an_error(self, cloud: PlacementCloud, project: ProjectInfo) -> None:
        settings = params(cloud.url, auth={"type": "none"})
        backend = load_quota("placement", {**settings, "quota": {"store": "none"}}).quota["compute"]
        with pytest.raises(BackendError, match="GET /usages"):
            usage_anywhere(backend, project)


class Hosts:
    """Two AZs. host1 (az-one) has its cores on NUMA nodes; host2 (az-two) is half reserved and overcommitted; host3 is
    in az-one, but has the trait that is forbidden; host4 is in no AZ; the disk pool has nothing that is asked for."""

    def __init__(self, cloud: PlacementCloud) -> None:
        self.az_one, self.az_two, self.all = (str(uuid.uuid4()) for _ in range(3))
        both = ("COMPUTE_NODE", "CUSTOM_LIMES_FAST")
        self.host1 = cloud.provider(
            "host1", {"MEMORY_MB": {"total": 1000}}, traits=both, aggregates=(self.az_one, self.all)
        )
        self.numa = [
            cloud.provider(f"host1-numa{number}", {"VCPU": {"total": 4}}, parent=self.host1) for number in (0, 1)
        ]
        self.host2 = cloud.provider(
            "host2",
            {
                "VCPU": {"total": 11, "reserved": 4, "allocation_ratio": 1.5},
                "MEMORY_MB": {"total": 500, "reserved": 500},
            },
            traits=both,
            aggregates=(self.az_two, self.all),
        )
        self.host3 = cloud.provider(
            "host3", {"VCPU": {"total": 64}}, traits=(*both, "CUSTOM_LIMES_RETIRED"), aggregates=(self.az_one, self.all)
        )
        self.host4 = cloud.provider("host4", {"VCPU": {"total": 2}}, traits=both, aggregates=(self.all,))
        cloud.provider("disks", {"DISK_GB": {"total": 100}}, traits=both, aggregates=(self.az_one, self.all))
        cloud.provider("elsewhere", {"VCPU": {"total": 1000}}, traits=both, aggregates=(self.az_one,))
        cloud.allocate(uuid.uuid4().hex, self.numa[1], VCPU=3)
        cloud.allocate(uuid.uuid4().hex, self.host2, VCPU=10)


class CapacityCases(CapacityBackendContract, BrokenCapacityContract):
    def settings(self, url: str, hosts: Any, **others: Any) -> dict[Any, Any]:
        return {
            "service": "compute",
            "endpoint": url,
            "auth": TOKEN,
            "resources": {"cores": "VCPU", "ram": "MEMORY_MB"},
            "traits": {"required": ["COMPUTE_NODE", "CUSTOM_LIMES_FAST"], "forbidden": ["CUSTOM_LIMES_RETIRED"]},
            "aggregates": [hosts.all],
            "availability_zones": {"az-one": hosts.az_one, "az-two": [hosts.az_two]},
            **others,
        }

    @pytest.fixture
    def backend(self, cloud: PlacementCloud, hosts: Any) -> CapacityBackend:
        return load_capacity("placement", self.settings(cloud.url, hosts)).capacity["under-test"]

    @pytest.fixture
    def broken_backend(self, hosts: Any) -> CapacityBackend:
        url = f"http://127.0.0.1:{free_port()}"
        return load_capacity("placement", self.settings(url, hosts)).capacity["under-test"]

    @pytest.fixture
    def catalog(self) -> Catalog:
        resources = {"cores": ResourceDef("cores"), "ram": ResourceDef("ram", Unit.MIB)}
        return Catalog(AZS, [ServiceDef("compute", "compute", resources)])

    def test_capacity(self, backend: CapacityBackend, catalog: Catalog, hosts: Any) -> None:
        compute = calls.report_capacity(backend, "c", catalog).services["compute"]
        figures = {
            (resource, az): (item.capacity, item.usage)
            for resource, by_az in compute.items()
            for az, item in by_az.items()
        }
        assert figures == {
            ("cores", "az-one"): (8, 3),
            ("cores", "az-two"): (10, 10),  # int((11 - 4) * 1.5)
            ("cores", "unknown"): (2, 0),
            ("ram", "az-one"): (1000, 0),
            ("ram", "az-two"): (0, 0),
        }
        assert compute["cores"]["az-one"].subcapacities == tuple(
            {
                "name": f"host1-numa{number}-{hosts.numa[number]}",
                "uuid": hosts.numa[number],
                "az": "az-one",
                "traits": [],
                "capacity": 4,
                "used": used,
            }
            for number, used in ((0, 0), (1, 3))
        )
        assert compute["cores"]["az-two"].subcapacities[0]["traits"] == ["COMPUTE_NODE", "CUSTOM_LIMES_FAST"]

    def test_without_subcapacities_and_zones(self, cloud: PlacementCloud, catalog: Catalog, hosts: Any) -> None:
        settings = self.settings(cloud.url, hosts, subcapacities=False, availability_zones={}, traits={})
        backend = load_capacity("placement", settings).capacity["under-test"]
        assert calls.report_capacity(backend, "c", catalog).services["compute"] == {
            "cores": {"any": AZCapacity(8 + 10 + 64 + 2)},
            "ram": {"any": AZCapacity(1000)},
        }

    def test_an_unknown_trait_is_an_error(self, cloud: PlacementCloud, catalog: Catalog, hosts: Any) -> None:
        settings = self.settings(cloud.url, hosts, traits={"required": ["CUSTOM_LIMES_NOWHERE"]})
        backend = load_capacity("placement", settings).capacity["under-test"]
        with pytest.raises(BackendError, match="CUSTOM_LIMES_NOWHERE"):
            calls.report_capacity(backend, "c", catalog)

    def test_a_report_that_takes_too_long_is_an_error(
        self, cloud: PlacementCloud, catalog: Catalog, hosts: Any
    ) -> None:
        settings = self.settings(cloud.url, hosts)
        backend = load_capacity("placement", settings, time_limit=1e-6).capacity["under-test"]
        with pytest.raises(BackendError):
            calls.report_capacity(backend, "c", catalog)
