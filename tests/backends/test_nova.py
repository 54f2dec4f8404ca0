"""The plugins `compute` and `nova` against a real Nova with a real Keystone, Glance and Neutron, and our Placement: servers
are booted on hypervisors that are fakes, and everything else is real."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from limes.backends import (
    AZDemand,
    BackendError,
    CapacityBackend,
    DomainInfo,
    ProjectInfo,
    QuotaBackend,
    ResourceDemand,
    calls,
)
from limes.backends.contract import BrokenCapacityContract, CapacityBackendContract
from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from tests.backends.conftest import AZS, load_capacity, load_quota
from tests.backends.quota_cases import QuotaCases, quotas, report, set_quota, usage
from tests.integration.whole.house import House
from tests.support.cloud import NOVA_PAGE_SIZE
from tests.support.keystone import RealKeystone
from tests.support.keystone_seed import REGION
from tests.support.nova import RealNova, start_nova
from tests.support.nova_cloud import NovaCloud, make_aggregate
from tests.support.processes import free_port
from tests.support.real import RealVenv

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture
def berlin(keystone: RealKeystone, nova: NovaCloud) -> ProjectInfo:
    """A project without servers and groups, whose quota is Nova's default."""
    project = nova.project(keystone, "berlin")
    nova.clear()
    nova.admin.delete(f"/os-quota-sets/{project.id}")
    return project


def load(session: Session | None, **params: Any) -> QuotaBackend:
    params = {"page_size": NOVA_PAGE_SIZE, "max_age": 0, **params}
    return load_quota("compute", params, session_factory=lambda: session).quota["compute"]


class RealNovaContract(QuotaCases):
    """With projects that there are, because Nova asks Keystone for them."""

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        url = f"http://127.0.0.1:{free_port()}/v2.1"
        return load(None, endpoint=url, auth={"type": "token", "token": "t"})

    @pytest.fixture
    def project(self, keystone: RealKeystone, nova: NovaCloud) -> ProjectInfo:
        return nova.project(keystone, "hamburg")

    @pytest.fixture
    def other_project(self, keystone: RealKeystone, nova: NovaCloud) -> ProjectInfo:
        return nova.project(keystone, "vienna")

    @pytest.fixture
    def new_project(self, keystone: RealKeystone, nova: NovaCloud) -> Iterator[ProjectInfo]:
        name = f"new-{uuid.uuid4().hex}"
        keystone.create_project(name, "north")
        yield nova.project(keystone, name)
        keystone.delete_project(name)


class TestQuotaSets(RealNovaContract):
    @pytest.fixture
    def backend(self, nova: NovaCloud) -> QuotaBackend:
        return load(nova.session)

    def test_servers_are_usage_where_they_are(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        backend = load(nova.session, flavors={"m1.wide": {}}, with_subresources=True)
        kept = load(nova.session, flavors={"m1.wide": {}}, max_age=3600)
        by_project = load(nova.session, flavors={"m1.wide": {}}, list_servers="by_project")
        nova.boot("one", "az-one")
        nova.boot("two", "az-two", "m1.wide")
        assert usage(kept, berlin)["cores"] == {"az-one": 1, "az-two": 3}
        nova.boot("three", "az-two")
        assert usage(kept, berlin) == usage(by_project, berlin) == usage(backend, berlin)
        assert usage(backend, berlin) == {
            "cores": {"az-one": 1, "az-two": 4},
            "instances": {"az-one": 1, "az-two": 2},
            "instances_m1.wide": {"az-two": 1},
            "ram": {"az-one": 512, "az-two": 2560},
            "server_groups": {},
            "server_group_members": {},
        }
        [server] = report(backend, berlin)["instances_m1.wide"].per_az["az-two"].subresources
        assert {key: value for key, value in server.items() if key != "id"} == {
            "name": "two",
            "status": "ACTIVE",
            "availability_zone": "az-two",
            "metadata": {"a": "b"},
            "tags": ["web"],
            "flavor": "m1.wide",
            "vcpu": 3,
            "ram": {"value": 2048, "unit": "MiB"},
            "disk": {"value": 100, "unit": "GiB"},
            "os_type": "linux",
        }
        nova.clear()
        assert usage(backend, berlin)["ram"] == {}

    def test_server_groups(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        backend = load(nova.session)
        ids = [
            nova.member.post("/os-server-groups", json={"server_group": {"name": name, "policy": "soft-affinity"}})
            for name in ("a", "b", "c")
        ]
        group = ids[1].json()["server_group"]["id"]
        nova.boot("one", "az-one", group=group)
        nova.boot("two", "az-one", group=group)
        found = usage(backend, berlin)
        assert (found["server_groups"], found["server_group_members"]) == ({"any": 3}, {"any": 2})

    def test_quota_is_enforced(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        backend = load(nova.session)
        wanted = {"cores": 3, "instances": 5, "ram": 10_000, "server_groups": 1, "server_group_members": 1}
        set_quota(backend, berlin, wanted)
        assert nova.boot("wide", "az-one", "m1.wide").status_code == 202
        refused = nova.boot("tiny", "az-one")
        assert refused.status_code == 403
        assert "Quota exceeded for cores" in refused.json()["forbidden"]["message"]
        assert usage(backend, berlin)["cores"] == {"az-one": 3}

    def test_a_quota_below_usage_is_set(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        backend = load(nova.session)
        nova.boot("one", "az-one")
        zero = dict.fromkeys(quotas(backend, berlin), 0)
        set_quota(backend, berlin, zero)
        assert quotas(backend, berlin) == zero
        assert usage(backend, berlin)["instances"] == {"az-one": 1}

    def test_a_quota_changed_behind_our_back_is_seen(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        backend = load(nova.session)
        set_quota(backend, berlin, dict.fromkeys(quotas(backend, berlin), 50))
        nova.admin.put(f"/os-quota-sets/{berlin.id}", json={"quota_set": {"ram": -1, "cores": 7}})
        found = quotas(backend, berlin)
        assert (str(found["ram"]), found["cores"], found["instances"]) == ("Unlimited.UNLIMITED", 7, 50)

    def test_a_project_that_is_gone(self, nova: NovaCloud) -> None:
        gone = ProjectInfo(uuid.uuid4().hex, "gone", "x", DomainInfo("x", "north"))
        with pytest.raises(BackendError, match="is not a valid project"):
            report(load(nova.session), gone)

    def test_a_user_without_the_role(self, keystone: RealKeystone, berlin: ProjectInfo) -> None:
        session = Session(v3.Password(**keystone.credentials("munich-member", "munich")))
        with pytest.raises(BackendError, match="Nova refuses the user of Limes with 403"):
            report(load(session), berlin)


class TestPlacementZones:
    """The plugin `placement`, told by Nova's host aggregates where servers are."""

    def params(self, **others: Any) -> dict[Any, Any]:
        return {"resources": {"cores": "VCPU"}, "availability_zones_from_nova": {}, **others}

    def test_usage_and_capacity_are_in_the_zones_of_host_aggregates(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        def session() -> Session:
            return nova.session

        service = load_quota("placement", self.params(area="compute", max_age=0), session_factory=session).quota[
            "compute"
        ]
        nova.boot("one", "az-one")
        nova.boot("two", "az-two", "m1.wide")
        assert usage(service, berlin) == {"cores": {"az-one": 1, "az-two": 3}}
        capacitor = load_capacity("placement", self.params(service="compute"), session_factory=session).capacity[
            "under-test"
        ]
        catalog = Catalog(AZS, [ServiceDef("compute", "compute", {"cores": ResourceDef("cores")})])
        cores = calls.report_capacity(capacitor, "placement", catalog).services["compute"]["cores"]
        assert {az: part.usage for az, part in cores.items() if part.usage} == {"az-one": 1, "az-two": 3}


@pytest.fixture(scope="module")
def limited_nova(
    real_venv: RealVenv,
    keystone: RealKeystone,
    nova: NovaCloud,
    cloud_house: House,
    new_database: Callable[[], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RealNova]:
    """Another Nova, which has no hypervisors and counts against the limits in Keystone."""
    server = start_nova(
        real_venv,
        tmp_path_factory.mktemp("limited-nova"),
        keystone.credentials("placement"),
        new_database,
        placement_url=cloud_house.placement_url,
        quota_driver="nova.quota.UnifiedLimitsDriver",
    )
    yield server
    server.process.stop()


class TestUnifiedLimits(RealNovaContract):
    @pytest.fixture
    def backend(self, nova: NovaCloud, limited_nova: RealNova, keystone: RealKeystone) -> Iterator[QuotaBackend]:
        quota = {"store": "keystone_limits", "region_id": REGION}
        yield load(nova.session, endpoint=limited_nova.url, quota=quota)
        for collection in ("limits", "registered_limits"):
            for one in keystone.api.get(f"/{collection}").json()[collection]:
                keystone.api.delete(f"/{collection}/{one['id']}")

    def test_nova_counts_against_them(
        self, nova: NovaCloud, limited_nova: RealNova, backend: QuotaBackend, berlin: ProjectInfo
    ) -> None:
        wanted = {"cores": 3, "instances": 5, "ram": 10_000}
        set_quota(backend, berlin, wanted)
        shown = nova.admin.get(f"{limited_nova.url}/os-quota-sets/{berlin.id}").json()["quota_set"]
        assert {name: shown[name] for name in wanted} == wanted
        assert usage(backend, berlin)["server_groups"] == {}


def load_nova(session: None, **params: Any) -> CapacityBackend:
    params = {"hypervisor_selection": {"aggregate_name_pattern": "^vc-"}, **params}
    return load_capacity("nova", params, session_factory=lambda: session).capacity["under-test"]


def capacity(session: Session, **params: Any) -> dict[Any, Any]:
    resources = load_nova(session, **params).report_capacity().services["compute"]
    return {
        name: {az: (one.capacity, one.usage) for az, one in resource.items()} for name, resource in resources.items()
    }


class TestNovaCapacity(CapacityBackendContract, BrokenCapacityContract):
    @pytest.fixture
    def catalog(self) -> Catalog:
        names = ("cores", "instances", "ram")
        return Catalog(AZS, [ServiceDef("compute", "compute", {name: ResourceDef(name) for name in names})])

    @pytest.fixture
    def backend(self, nova: NovaCloud) -> CapacityBackend:
        return load_nova(nova.session, with_subcapacities=True)

    @pytest.fixture
    def broken_backend(self) -> CapacityBackend:
        connection = {"endpoint": f"http://127.0.0.1:{free_port()}", "auth": {"type": "token", "token": "t"}}
        return load_nova(None, **connection, placement=connection)

    def test_hypervisors_in_matching_aggregates(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        nova.boot("wide", "az-one", "m1.wide")
        fake = 1028  # GiB of disk, MediumFakeDriver
        assert capacity(nova.session) == {
            "cores": {"az-one": (10, 3), "az-two": (10, 0)},
            # Nova keeps 512 MiB for the host
            "ram": {"az-one": (8192 - 512, 2048), "az-two": (8192 - 512, 0)},
            "instances": {"az-one": (fake // 100, 1), "az-two": (fake // 100, 0)},
        }

    def test_all_aggregates(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        everything = {"aggregate_name_pattern": ""}
        assert capacity(nova.session, hypervisor_selection=everything)["cores"] == {
            "az-one": (10, 0),
            "az-two": (20, 0),
        }

    def test_instances_for_each_aggregate(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        options = {"hypervisor_selection": {"aggregate_name_pattern": "."}, "max_instances_per_aggregate": 3}
        assert capacity(nova.session, **options)["instances"] == {"az-one": (3, 0), "az-two": (6, 0)}

    def test_the_largest_of_the_selected_flavors(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        path = f"/flavors/{nova.flavors['m1.wide']}/os-extra_specs"
        nova.admin.post(path, json={"extra_specs": {"hw:boot_menu": "true"}})
        without = capacity(nova.session, flavor_selection={"excluded_extra_specs": {"hw:boot_menu": "true"}})
        only = capacity(nova.session, flavor_selection={"required_extra_specs": {"hw:boot_menu": "true"}})
        none = capacity(nova.session, flavor_selection={"required_extra_specs": {"hw:boot_menu": "false"}})
        assert [one["instances"]["az-one"][0] for one in (without, only, none)] == [1028, 10, 10_000]

    @pytest.mark.parametrize(
        ("selection", "azs"),
        [
            ({"hypervisor_type_pattern": "^fake$"}, ["az-one", "az-two"]),
            ({"hypervisor_type_pattern": "QEMU"}, []),
            ({"required_traits": ["COMPUTE_NODE", "!CUSTOM_RETIRED"]}, ["az-one", "az-two"]),
            ({"required_traits": ["!COMPUTE_NODE"]}, []),
        ],
    )
    def test_types_and_traits(self, nova: NovaCloud, selection: dict[str, Any], azs: list[Any]) -> None:
        found = capacity(nova.session, hypervisor_selection={"aggregate_name_pattern": "^vc-", **selection})
        assert [sorted(resource) for resource in found.values()] == [azs, azs, azs]

    def test_subcapacities(self, backend: CapacityBackend, nova: NovaCloud, berlin: ProjectInfo) -> None:
        nova.boot("wide", "az-one", "m1.wide")
        resources = backend.report_capacity().services["compute"]
        [cores], [ram] = (resources[name]["az-one"].subcapacities for name in ("cores", "ram"))
        assert {"COMPUTE_NODE"} <= set(cores["traits"])
        names = {"service_host": "host1", "hypervisor_hostname": "host1"}
        expected = {**names, "az": "az-one", "aggregate": "vc-one", "traits": cores["traits"]}
        assert cores == {**expected, "capacity": 10, "usage": 3}
        assert ram == {**expected, "capacity": 7680, "usage": 2048}

    def test_servers_of_single_flavors(self, nova: NovaCloud, berlin: ProjectInfo) -> None:
        """Each hypervisor has 10 cores, 7680 MiB and 1028 GiB, so it takes 3 servers of m1.wide and one of m1.tiny."""
        nova.boot("wide", "az-one", "m1.wide")
        backend = load_nova(nova.session, flavors={"m1.wide": {}, "m1.tiny": {}})
        demand = {("compute", "instances_m1.wide"): ResourceDemand(per_az={az: AZDemand(1, 2) for az in AZS})}
        resources = backend.report_capacity_for(demand).services["compute"]
        wide, tiny = (resources[f"instances_{name}"] for name in ("m1.wide", "m1.tiny"))
        assert [(wide[az].capacity, tiny[az].capacity) for az in AZS] == [(3, 1), (3, 1)]

    def test_a_hypervisor_in_two_matching_aggregates(self, nova: NovaCloud) -> None:
        make_aggregate(nova.admin, "vc-again", "az-one", "host1")
        try:
            with pytest.raises(BackendError, match="host1 is in two aggregates that match: vc-one, vc-again"):
                capacity(nova.session)
        finally:
            found = nova.admin.get("/os-aggregates").json()["aggregates"]
            [again] = [one["id"] for one in found if one["name"] == "vc-again"]
            nova.admin.post(f"/os-aggregates/{again}/action", json={"remove_host": {"host": "host1"}})
            nova.admin.delete(f"/os-aggregates/{again}")

    def test_other_names(self, nova: NovaCloud) -> None:
        names = {f"pooled_{name}_resource": f"{name}_vmware" for name in ("cores", "instances", "ram")}
        backend = load_nova(nova.session, service="nova", **names)
        expected = [("nova", f"{name}_vmware") for name in ("cores", "instances", "ram")]
        assert list(backend.resources()) == expected
        assert [("nova", name) for name in backend.report_capacity().services["nova"]] == expected
