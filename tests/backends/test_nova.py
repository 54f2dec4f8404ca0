"""The plugins `compute` and `nova` against a real Nova with a real Keystone, Placement, Glance and Neutron: servers are
booted on hypervisors that are fakes, and everything else is real."""

import contextlib
import time
import uuid

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from limes.backends import BackendError, DomainInfo, ProjectInfo, ask
from limes.backends.contract import BrokenCapacityContract, CapacityBackendContract
from limes.core.catalog import Catalog, ResourceDef, ServiceDef
from tests.backends.compute_cases import ComputeContract, quotas, report, usage
from tests.backends.conftest import AZS, load_capacity, load_quota
from tests.support.glance import start_glance
from tests.support.keystone_seed import REGION
from tests.support.neutron import start_neutron
from tests.support.nova import start_nova
from tests.support.processes import free_port
from tests.support.upstream_placement import start_upstream_placement

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

PAGE_SIZE = 2
"""So that three of anything are on two pages."""
FLAVORS = {"m1.tiny": {"vcpus": 1, "ram": 512, "disk": 1}, "m1.wide": {"vcpus": 3, "ram": 2048, "disk": 100}}
AGGREGATES = {"vc-one": ("az-one", "host1"), "vc-two": ("az-two", "host2"), "other": ("az-two", "host3")}


class Cloud:
    """A running Nova, as an administrator and as a member of berlin see it."""

    def __init__(self, keystone):
        self.session = Session(v3.Password(**keystone.credentials("limes")))
        member = Session(v3.Password(**keystone.credentials("berlin-member", "berlin")))
        self.admin = Adapter(self.session, service_type="compute", default_microversion="2.98")
        self.member = Adapter(member, service_type="compute", default_microversion="2.98")
        self.image = self._make_image()
        self.flavors = {name: self._make_flavor(name, **attributes) for name, attributes in FLAVORS.items()}
        for name, (az, host) in AGGREGATES.items():
            self._make_aggregate(name, az, host)

    def _make_image(self):
        glance = Adapter(self.session, service_type="image")
        attributes = {"name": "i", "disk_format": "raw", "container_format": "bare", "visibility": "public"}
        made = glance.post("/v2/images", json={**attributes, "os_type": "linux"}).json()["id"]
        glance.put(f"/v2/images/{made}/file", data=b"x", headers={"Content-Type": "application/octet-stream"})
        return made

    def _make_flavor(self, name, **attributes):
        return self.admin.post("/flavors", json={"flavor": {"name": name, **attributes}}).json()["flavor"]["id"]

    def _make_aggregate(self, name, az, host):
        aggregate = {"name": name, "availability_zone": az}
        made = self.admin.post("/os-aggregates", json={"aggregate": aggregate}).json()["aggregate"]["id"]
        self.admin.post(f"/os-aggregates/{made}/action", json={"add_host": {"host": host}})

    def boot(self, name, az, flavor="m1.tiny", group=None):
        """The answer to the request for a server in berlin; waits until it is there."""
        server = {"name": name, "flavorRef": self.flavors[flavor], "imageRef": self.image, "networks": "none"}
        document = {"server": {**server, "availability_zone": az, "tags": ["web"], "metadata": {"a": "b"}}}
        if group:
            document["os:scheduler_hints"] = {"group": group}
        answer = self.member.post("/servers", json=document, raise_exc=False)
        if answer.status_code == 202:
            self.wait(answer.json()["server"]["id"], "ACTIVE")
        return answer

    def wait(self, server, wanted):
        """Until the server has that status; None: until it is gone."""
        deadline = time.monotonic() + 120
        while (status := self.status(server)) != wanted:
            assert status != "ERROR"
            assert time.monotonic() < deadline, f"the server is {status} and not {wanted}"
            time.sleep(0.2)

    def status(self, server):
        answer = self.member.get(f"/servers/{server}", raise_exc=False)
        return None if answer.status_code == 404 else answer.json()["server"]["status"]

    def clear(self):
        """Deletes what is in berlin."""
        ids = [one["id"] for one in self.admin.get("/servers?all_tenants=1&limit=2").json()["servers"]]
        while ids:
            for one in ids:
                self.admin.delete(f"/servers/{one}", raise_exc=False)
            for one in ids:
                self.wait(one, None)
            ids = [one["id"] for one in self.admin.get("/servers?all_tenants=1&limit=2").json()["servers"]]
        while groups := self.member.get("/os-server-groups").json()["server_groups"]:
            for one in groups:
                self.member.delete(f"/os-server-groups/{one['id']}")

    def project(self, keystone, name):
        return ProjectInfo(keystone.ids.projects[name], name, "x", DomainInfo("x", "north"))


@pytest.fixture(scope="module")
def new_database(postgres):
    """Gives the URL of a further PostgreSQL database with each call."""
    names = []

    def make():
        names.append(postgres.create_database())
        return postgres.url(names[-1])

    yield make
    for name in names:
        postgres.drop_database(name)


@pytest.fixture(scope="module")
def cloud(real_venv, keystone, new_database, tmp_path_factory):
    """With a Placement of its own: the session's knows nothing of hypervisors, and other tests count on that."""
    credentials = keystone.credentials("placement")
    with contextlib.ExitStack() as stack:
        placement = start_upstream_placement(real_venv, tmp_path_factory.mktemp("placement"), credentials=credentials)
        stack.callback(placement.process.stop)
        stack.callback(keystone.set_endpoint, "placement", keystone.endpoint("placement"))
        keystone.set_endpoint("placement", placement.url)
        for service_type, start in (("image", start_glance), ("network", start_neutron)):
            server = start(real_venv, tmp_path_factory.mktemp(service_type), credentials)
            stack.callback(server.process.stop)
            keystone.set_endpoint(service_type, server.url)
        hosts = [host for _, host in AGGREGATES.values()]
        folder = tmp_path_factory.mktemp("nova")
        nova = start_nova(real_venv, folder, credentials, new_database, hosts=hosts, page_size=PAGE_SIZE)
        stack.callback(nova.process.stop)
        keystone.set_endpoint("compute", nova.url)
        yield Cloud(keystone)


@pytest.fixture
def berlin(keystone, cloud):
    """A project without servers and groups, whose quota is Nova's default."""
    project = cloud.project(keystone, "berlin")
    cloud.clear()
    cloud.admin.delete(f"/os-quota-sets/{project.id}")
    return project


def load(session, **params):
    params = {"page_size": PAGE_SIZE, "max_age": 0, **params}
    return load_quota("compute", params, session_factory=lambda: session).quota["compute"]


class RealNovaContract(ComputeContract):
    """With projects that there are, because Nova asks Keystone for them."""

    @pytest.fixture
    def broken_backend(self):
        url = f"http://127.0.0.1:{free_port()}/v2.1"
        return load(None, endpoint=url, auth={"type": "token", "token": "t"})

    @pytest.fixture
    def project(self, keystone, cloud):
        return cloud.project(keystone, "hamburg")

    @pytest.fixture
    def other_project(self, keystone, cloud):
        return cloud.project(keystone, "vienna")

    @pytest.fixture
    def new_project(self, keystone, cloud):
        name = f"new-{uuid.uuid4().hex}"
        keystone.create_project(name, "north")
        yield cloud.project(keystone, name)
        keystone.delete_project(name)


class TestQuotaSets(RealNovaContract):
    @pytest.fixture
    def backend(self, cloud):
        return load(cloud.session)

    def test_servers_are_usage_where_they_are(self, cloud, berlin):
        backend = load(cloud.session, flavors={"m1.wide": {}}, with_subresources=True)
        kept = load(cloud.session, flavors={"m1.wide": {}}, max_age=3600)
        by_project = load(cloud.session, flavors={"m1.wide": {}}, list_servers="by_project")
        cloud.boot("one", "az-one")
        cloud.boot("two", "az-two", "m1.wide")
        assert usage(kept, berlin)["cores"] == {"az-one": 1, "az-two": 3}
        cloud.boot("three", "az-two")
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
        cloud.clear()
        assert usage(backend, berlin)["ram"] == {}

    def test_server_groups(self, cloud, berlin):
        backend = load(cloud.session)
        ids = [
            cloud.member.post("/os-server-groups", json={"server_group": {"name": name, "policy": "soft-affinity"}})
            for name in ("a", "b", "c")
        ]
        group = ids[1].json()["server_group"]["id"]
        cloud.boot("one", "az-one", group=group)
        cloud.boot("two", "az-one", group=group)
        found = usage(backend, berlin)
        assert (found["server_groups"], found["server_group_members"]) == ({"any": 3}, {"any": 2})

    def test_quota_is_enforced(self, cloud, berlin):
        backend = load(cloud.session)
        wanted = {"cores": 3, "instances": 5, "ram": 10_000, "server_groups": 1, "server_group_members": 1}
        ask.set_quota(backend, backend.describe(), berlin, wanted)
        assert cloud.boot("wide", "az-one", "m1.wide").status_code == 202
        refused = cloud.boot("tiny", "az-one")
        assert refused.status_code == 403
        assert "Quota exceeded for cores" in refused.json()["forbidden"]["message"]
        assert usage(backend, berlin)["cores"] == {"az-one": 3}

    def test_a_quota_below_usage_is_set(self, cloud, berlin):
        backend = load(cloud.session)
        cloud.boot("one", "az-one")
        zero = dict.fromkeys(quotas(backend, berlin), 0)
        ask.set_quota(backend, backend.describe(), berlin, zero)
        assert quotas(backend, berlin) == zero
        assert usage(backend, berlin)["instances"] == {"az-one": 1}

    def test_a_quota_changed_behind_our_back_is_seen(self, cloud, berlin):
        backend = load(cloud.session)
        ask.set_quota(backend, backend.describe(), berlin, dict.fromkeys(quotas(backend, berlin), 50))
        cloud.admin.put(f"/os-quota-sets/{berlin.id}", json={"quota_set": {"ram": -1, "cores": 7}})
        found = quotas(backend, berlin)
        assert (str(found["ram"]), found["cores"], found["instances"]) == ("Unlimited.UNLIMITED", 7, 50)

    def test_a_project_that_is_gone(self, cloud):
        gone = ProjectInfo(uuid.uuid4().hex, "gone", "x", DomainInfo("x", "north"))
        with pytest.raises(BackendError, match="is not a valid project"):
            report(load(cloud.session), gone)

    def test_a_user_without_the_role(self, keystone, berlin):
        session = Session(v3.Password(**keystone.credentials("munich-member", "munich")))
        with pytest.raises(BackendError, match="Nova refuses the user of Limes with 403"):
            report(load(session), berlin)


@pytest.fixture(scope="module")
def limited_nova(real_venv, keystone, cloud, new_database, tmp_path_factory):
    """Another Nova, which has no hypervisors and counts against the limits in Keystone."""
    folder = tmp_path_factory.mktemp("limited-nova")
    driver = "nova.quota.UnifiedLimitsDriver"
    server = start_nova(real_venv, folder, keystone.credentials("placement"), new_database, quota_driver=driver)
    yield server
    server.process.stop()


class TestUnifiedLimits(RealNovaContract):
    @pytest.fixture
    def backend(self, cloud, limited_nova, keystone):
        quota = {"store": "keystone_limits", "region_id": REGION}
        yield load(cloud.session, endpoint=limited_nova.url, quota=quota)
        for collection in ("limits", "registered_limits"):
            for one in keystone.api.get(f"/{collection}").json()[collection]:
                keystone.api.delete(f"/{collection}/{one['id']}")

    def test_nova_counts_against_them(self, cloud, limited_nova, backend, berlin):
        wanted = {"cores": 3, "instances": 5, "ram": 10_000}
        ask.set_quota(backend, backend.describe(), berlin, wanted)
        shown = cloud.admin.get(f"{limited_nova.url}/os-quota-sets/{berlin.id}").json()["quota_set"]
        assert {name: shown[name] for name in wanted} == wanted
        assert usage(backend, berlin)["server_groups"] == {}


def load_nova(session, **params):
    params = {"hypervisor_selection": {"aggregate_name_pattern": "^vc-"}, **params}
    return load_capacity("nova", params, session_factory=lambda: session).capacity["under-test"]


def capacity(session, **params):
    resources = load_nova(session, **params).report_capacity().services["compute"]
    return {
        name: {az: (one.capacity, one.usage) for az, one in resource.items()} for name, resource in resources.items()
    }


class TestNovaCapacity(CapacityBackendContract, BrokenCapacityContract):
    @pytest.fixture
    def catalog(self):
        names = ("cores", "instances", "ram")
        return Catalog(AZS, [ServiceDef("compute", "compute", {name: ResourceDef(name) for name in names})])

    @pytest.fixture
    def backend(self, cloud):
        return load_nova(cloud.session, with_subcapacities=True)

    @pytest.fixture
    def broken_backend(self):
        connection = {"endpoint": f"http://127.0.0.1:{free_port()}", "auth": {"type": "token", "token": "t"}}
        return load_nova(None, **connection, placement=connection)

    def test_hypervisors_in_matching_aggregates(self, cloud, berlin):
        cloud.boot("wide", "az-one", "m1.wide")
        fake = 1028  # GiB of disk, MediumFakeDriver
        assert capacity(cloud.session) == {
            "cores": {"az-one": (10, 3), "az-two": (10, 0)},
            # Nova keeps 512 MiB for the host
            "ram": {"az-one": (8192 - 512, 2048), "az-two": (8192 - 512, 0)},
            "instances": {"az-one": (fake // 100, 1), "az-two": (fake // 100, 0)},
        }

    def test_all_aggregates(self, cloud, berlin):
        everything = {"aggregate_name_pattern": ""}
        assert capacity(cloud.session, hypervisor_selection=everything)["cores"] == {
            "az-one": (10, 0),
            "az-two": (20, 0),
        }

    def test_instances_for_each_aggregate(self, cloud, berlin):
        options = {"hypervisor_selection": {"aggregate_name_pattern": "."}, "max_instances_per_aggregate": 3}
        assert capacity(cloud.session, **options)["instances"] == {"az-one": (3, 0), "az-two": (6, 0)}

    def test_the_largest_of_the_selected_flavors(self, cloud, berlin):
        path = f"/flavors/{cloud.flavors['m1.wide']}/os-extra_specs"
        cloud.admin.post(path, json={"extra_specs": {"hw:boot_menu": "true"}})
        without = capacity(cloud.session, flavor_selection={"excluded_extra_specs": {"hw:boot_menu": "true"}})
        only = capacity(cloud.session, flavor_selection={"required_extra_specs": {"hw:boot_menu": "true"}})
        none = capacity(cloud.session, flavor_selection={"required_extra_specs": {"hw:boot_menu": "false"}})
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
    def test_types_and_traits(self, cloud, selection, azs):
        found = capacity(cloud.session, hypervisor_selection={"aggregate_name_pattern": "^vc-", **selection})
        assert [sorted(resource) for resource in found.values()] == [azs, azs, azs]

    def test_subcapacities(self, backend, cloud, berlin):
        cloud.boot("wide", "az-one", "m1.wide")
        resources = backend.report_capacity().services["compute"]
        [cores], [ram] = (resources[name]["az-one"].subcapacities for name in ("cores", "ram"))
        assert {"COMPUTE_NODE"} <= set(cores["traits"])
        expected = {"service_host": "host1", "az": "az-one", "aggregate": "vc-one", "traits": cores["traits"]}
        assert cores == {**expected, "capacity": 10, "usage": 3}
        assert ram == {**expected, "capacity": 7680, "usage": 2048}

    def test_a_hypervisor_in_two_matching_aggregates(self, cloud):
        cloud._make_aggregate("vc-again", "az-one", "host1")
        try:
            with pytest.raises(BackendError, match="host1 is in two aggregates that match: vc-one, vc-again"):
                capacity(cloud.session)
        finally:
            found = cloud.admin.get("/os-aggregates").json()["aggregates"]
            [again] = [one["id"] for one in found if one["name"] == "vc-again"]
            cloud.admin.post(f"/os-aggregates/{again}/action", json={"remove_host": {"host": "host1"}})
            cloud.admin.delete(f"/os-aggregates/{again}")

    def test_other_names(self, cloud):
        names = {f"pooled_{name}_resource": f"{name}_vmware" for name in ("cores", "instances", "ram")}
        backend = load_nova(cloud.session, service="nova", **names)
        expected = [("nova", f"{name}_vmware") for name in ("cores", "instances", "ram")]
        assert list(backend.resources()) == expected
        assert [("nova", name) for name in backend.report_capacity().services["nova"]] == expected
