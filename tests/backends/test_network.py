"""The plugin `network` against a real Neutron; what it has of Octavia against recorded shapes."""

import subprocess
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session

from limes.backends import UNLIMITED, BackendError, ProjectInfo, QuotaBackend
from limes.catalog.catalog import ServiceDef
from tests.backends.conftest import load_quota
from tests.backends.quota_cases import (
    QuotaCasesOfNewProjects,
    project_of,
    quotas,
    report,
    session_of,
    set_quota,
    usage_anywhere,
)
from tests.backends.test_loadbalancing import Octavia
from tests.support.keystone import RealKeystone
from tests.support.neutron import RealNeutron
from tests.support.processes import free_port
from tests.support.real import RealVenv
from tests.support.recorded import Asked, RecordedService

SHOWN = ("floating_ips", "networks", "routers")


@pytest.fixture(scope="module")
def session(keystone: RealKeystone, neutron: RealNeutron) -> Session:
    return session_of(keystone)


@pytest.fixture(scope="module")
def berlin(keystone: RealKeystone) -> ProjectInfo:
    return project_of(keystone, "berlin")


@pytest.fixture(scope="module")
def api(keystone: RealKeystone, neutron: RealNeutron) -> Adapter:
    """Neutron as a member of berlin sees it."""
    return Adapter(session_of(keystone, "berlin-member", "berlin"), service_type="network")


def load(session: None, **params: Any) -> QuotaBackend:
    return load_quota("network", params, name="network", session_factory=lambda: session).quota["network"]


@pytest.mark.long
@pytest.mark.real
class TestNeutron(QuotaCasesOfNewProjects):
    @pytest.fixture
    def backend(self, session: Session) -> QuotaBackend:
        return load(session)

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        url = f"http://127.0.0.1:{free_port()}/v2.0"
        return load(None, endpoint=url, auth={"type": "token", "token": "t"})

    def test_what_is_created_is_usage(self, backend: QuotaBackend, api: Adapter, berlin: ProjectInfo) -> None:
        before = usage_anywhere(backend, berlin)
        network = api.post("/v2.0/networks", json={"network": {"name": "n"}}).json()["network"]["id"]
        subnet = {"network_id": network, "ip_version": 4, "cidr": "10.1.0.0/24"}
        api.post("/v2.0/subnets", json={"subnet": subnet})
        api.post("/v2.0/ports", json={"port": {"network_id": network}})
        api.post("/v2.0/routers", json={"router": {"name": "r"}})
        after = usage_anywhere(backend, berlin)
        assert {
            name: after[name] - before[name] for name in ("networks", "subnets", "ports", "routers")
        } == dict.fromkeys(("networks", "subnets", "ports", "routers"), 1)
        # made by Neutron for the first port
        assert after["security_groups"] == 1

    def test_quota_is_enforced_and_shown_to_others(
        self, backend: QuotaBackend, api: Adapter, berlin: ProjectInfo, keystone: RealKeystone, real_venv: RealVenv
    ) -> None:
        used = usage_anywhere(backend, berlin)
        set_quota(backend, berlin, used | {"networks": used["networks"] + 1, "security_groups": 7})
        api.post("/v2.0/networks", json={"network": {"name": "last"}})
        refused = api.post("/v2.0/networks", json={"network": {"name": "too-much"}}, raise_exc=False)
        assert (refused.status_code, refused.json()["NeutronError"]["type"]) == (409, "OverQuota")
        credentials = {f"OS_{key.upper()}": value for key, value in keystone.credentials("operator").items()}
        shown = subprocess.run(
            [real_venv.bin("openstack"), "quota", "show", "--network", berlin.id, "-f", "value", "-c", "Resource", "-c", "Limit"],
            env={**credentials, "OS_IDENTITY_API_VERSION": "3", "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert "secgroups 7" in shown.stdout.replace("security_groups", "secgroups"), shown.stdout + shown.stderr

    def test_a_quota_changed_behind_our_back_is_seen(
        self, backend: QuotaBackend, service: ServiceDef, berlin: ProjectInfo, session: Session
    ) -> None:
        set_quota(backend, berlin, dict.fromkeys(service.resources, 50))
        admin = Adapter(session, service_type="network")
        admin.put(f"/v2.0/quotas/{berlin.id}", json={"quota": {"router": 1, "port": -1}})
        found = quotas(backend, berlin)
        assert (found["routers"], found["ports"], found["networks"]) == (1, UNLIMITED, 50)

    @pytest.mark.parametrize("max_age", [0, 60])
    def test_subresources(self, session: Session, api: Adapter, berlin: ProjectInfo, max_age: int) -> None:
        admin = Adapter(session, service_type="network")
        unlimited = dict.fromkeys(("floatingip", "network", "port", "router"), -1)
        admin.put(f"/v2.0/quotas/{berlin.id}", json={"quota": unlimited})
        outside = self.external_network(admin)
        router = {"name": "gateway", "external_gateway_info": {"network_id": outside}}
        made = {
            "networks": api.post("/v2.0/networks", json={"network": {"name": "web"}}).json()["network"]["id"],
            "routers": api.post("/v2.0/routers", json={"router": router}).json()["router"]["id"],
        }
        floating = api.post("/v2.0/floatingips", json={"floatingip": {"floating_network_id": outside}}).json()[
            "floatingip"
        ]
        switches = dict.fromkeys((f"with_{kind}_subresources" for kind in ("floating_ip", "network", "router")), True)
        found = report(load(session, **switches, max_age=max_age, page_size=1), berlin)
        shown = {name: {one["id"]: one for one in found[name].per_az["any"].subresources} for name in SHOWN}
        assert {name: len(shown[name]) for name in SHOWN} == {name: found[name].per_az["any"].usage for name in SHOWN}
        assert shown["floating_ips"][floating["id"]] == {
            "id": floating["id"], "status": floating["status"], "floating_ip_address": floating["floating_ip_address"],
            "floating_network": {"id": outside, "name": "outside"},
        }  # fmt: skip
        network = shown["networks"][made["networks"]]
        assert {key: network[key] for key in ("name", "external", "shared", "network_type", "subnets")} == {
            "name": "web", "external": False, "shared": False, "network_type": "local", "subnets": 0,
        }  # fmt: skip
        gateway = shown["routers"][made["routers"]]
        assert (gateway["name"], gateway["external_network"]) == ("gateway", {"id": outside, "name": "outside"})

    def external_network(self, admin: Adapter) -> str:
        known = admin.get("/v2.0/networks?name=outside").json()["networks"]
        if known:
            return str(known[0]["id"])
        network = {"name": "outside", "router:external": True}
        id_ = admin.post("/v2.0/networks", json={"network": network}).json()["network"]["id"]
        admin.post("/v2.0/subnets", json={"subnet": {"network_id": id_, "ip_version": 4, "cidr": "192.0.2.0/24"}})
        return str(id_)

    def test_an_extension_that_is_off(self, session: Session, berlin: ProjectInfo) -> None:
        with pytest.raises(BackendError, match="Neutron does not count 'bgpvpn'"):
            report(load(session, with_bgpvpns=True), berlin)

    def test_a_user_without_the_role(self, keystone: RealKeystone, neutron: RealNeutron, berlin: ProjectInfo) -> None:
        session = session_of(keystone, "munich-member", "munich")
        with pytest.raises(BackendError, match=r"Neutron (refuses the user of Limes with 403|answered with 404)"):
            report(load(session), berlin)

    def test_without_the_service_in_the_catalog(self, session: Session, berlin: ProjectInfo) -> None:
        with pytest.raises(BackendError, match=r"no service of type .network. .*region Atlantis"):
            report(load(session, region_name="Atlantis"), berlin)

    def test_octavia_in_the_same_service(self, session: Session, berlin: ProjectInfo) -> None:
        octavia = Octavia()
        params = {"endpoint": f"{octavia.service.url}/v2", "auth": {"type": "token", "token": "t"}}
        backend = load(session, loadbalancing=params)
        try:
            service = backend.describe()
            assert {one.category for one in service.resources.values()} == {"networking", "loadbalancing"}
            wanted = {name: 100 + position for position, name in enumerate(service.resources)}
            set_quota(backend, berlin, wanted)
            assert quotas(backend, berlin) == wanted
        finally:
            octavia.service.close()


class Neutron:
    """A Neutron with floating IPs in pages of two; its own count is `counted`."""

    def __init__(self) -> None:
        self.counted: dict[str, int] = {"p1": 3, "p2": 1}
        self.floating_ips = [("f1", "p1"), ("f2", "p1"), ("f3", "p2"), ("f4", "p1")]
        details = ("/v2.0/quotas/(.+)/details", "/v2.0/floatingips", "/v2.0/networks")
        handlers = (self.details, self.list, lambda request: (200, {"networks": [{"id": "ext", "name": "outside"}]}))
        self.service = RecordedService({("GET", path): call for path, call in zip(details, handlers, strict=True)})

    def details(self, request: Asked, project: str) -> tuple[int, Any]:
        entry = {"limit": 10, "used": 0, "reserved": 0}
        keys = [
            "network",
            "port",
            "rbac_policy",
            "router",
            "security_group_rule",
            "security_group",
            "subnetpool",
            "subnet",
        ]
        used = {"floatingip": {**entry, "used": self.counted.get(project, 0)}}
        return 200, {"quota": {**dict.fromkeys(keys, entry), **used}}

    def list(self, request: Asked) -> tuple[int, Any]:
        assert set(request.query["fields"]) >= {"id", "project_id", "status", "floating_network_id"}
        only = request.query.get("project_id", [None])[0]
        visible = [(id_, project) for id_, project in self.floating_ips if only in (None, project)]
        begin = [id_ for id_, _ in visible].index(request.query["marker"][0]) + 1 if "marker" in request.query else 0
        page = visible[begin : begin + 2]
        shown = [
            {"id": id_, "project_id": project, "status": "ACTIVE", "floating_network_id": "ext"}
            for id_, project in page
        ]
        document: dict[str, Any] = {"floatingips": shown}
        if visible[begin + 2 :]:
            query = urlencode({**request.query, "marker": page[-1][0]}, doseq=True)
            document["floatingips_links"] = [{"rel": "next", "href": f"https://elsewhere/v2.0/floatingips?{query}"}]
        return 200, document


class TestFloatingIPs:
    @pytest.fixture
    def neutron(self) -> Iterator[Neutron]:
        fake = Neutron()
        yield fake
        fake.service.close()

    def backend(self, neutron: Neutron, **params: Any) -> QuotaBackend:
        endpoint = {"endpoint": f"{neutron.service.url}/v2.0", "auth": {"type": "token", "token": "t"}}
        return load(None, **endpoint, with_floating_ip_subresources=True, page_size=2, **params)

    def ids(self, backend: QuotaBackend, project: ProjectInfo) -> list[str]:
        return [one["id"] for one in report(backend, project)["floating_ips"].per_az["any"].subresources]

    def test_one_list_for_all_projects(
        self, neutron: Neutron, project: ProjectInfo, other_project: ProjectInfo, new_project: ProjectInfo
    ) -> None:
        backend = self.backend(neutron)
        assert [self.ids(backend, one) for one in (new_project, project, other_project)] == [
            [],
            ["f1", "f2", "f4"],
            ["f3"],
        ]
        assert neutron.service.count("GET", "/v2.0/floatingips") == 2  # pages
        assert neutron.service.count("GET", "/v2.0/networks") == 1

    def test_one_that_is_new_is_looked_for(self, neutron: Neutron, project: ProjectInfo) -> None:
        backend = self.backend(neutron)
        self.ids(backend, project)
        neutron.floating_ips.append(("f5", "p1"))
        neutron.counted["p1"] += 1
        assert self.ids(backend, project) == ["f1", "f2", "f4", "f5"]

    @pytest.mark.parametrize("max_age", [0, 60])
    def test_a_list_that_is_cut_is_an_error(self, neutron: Neutron, project: ProjectInfo, max_age: int) -> None:
        neutron.counted["p1"] = 4
        with pytest.raises(BackendError, match="Neutron counts 4 floating_ips of the project, but lists only 3"):
            report(self.backend(neutron, max_age=max_age), project)

    def test_without_the_setting_nothing_is_listed(self, neutron: Neutron, project: ProjectInfo) -> None:
        endpoint = {"endpoint": f"{neutron.service.url}/v2.0", "auth": {"type": "token", "token": "t"}}
        assert self.ids(load(None, **endpoint), project) == []
        assert neutron.service.count("GET", "/v2.0/floatingips") == 0

    def test_what_is_billed(self, neutron: Neutron) -> None:
        described = self.backend(neutron).describe().resources
        assert described["floating_ips"].billed_attributes == ("floating_network.id",)
        assert described["networks"].billed_attributes == ()
