"""The plugin `network` against a real Neutron; what it has of Octavia against recorded shapes."""

import subprocess
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session

from limes.backends import BackendError, ProjectInfo, QuotaBackend, calls
from limes.core.catalog import ServiceDef
from tests.backends.conftest import load_quota
from tests.backends.quota_cases import QuotaCasesOfNewProjects, project_of, report, session_of
from tests.backends.test_loadbalancing import Octavia
from tests.support.keystone import RealKeystone
from tests.support.neutron import RealNeutron
from tests.support.processes import free_port
from tests.support.real import RealVenv

pytestmark = pytest.mark.real


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


def usage(backend: QuotaBackend, project: ProjectInfo) -> dict[Any, Any]:
    return {name: one.per_az["any"].usage for name, one in report(backend, project).items()}


class TestNeutron(QuotaCasesOfNewProjects):
    @pytest.fixture
    def backend(self, session: Session) -> QuotaBackend:
        return load(session)

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        url = f"http://127.0.0.1:{free_port()}/v2.0"
        return load(None, endpoint=url, auth={"type": "token", "token": "t"})

    def test_what_is_created_is_usage(self, backend: QuotaBackend, api: Adapter, berlin: ProjectInfo) -> None:
        before = usage(backend, berlin)
        network = api.post("/v2.0/networks", json={"network": {"name": "n"}}).json()["network"]["id"]
        subnet = {"network_id": network, "ip_version": 4, "cidr": "10.1.0.0/24"}
        api.post("/v2.0/subnets", json={"subnet": subnet})
        api.post("/v2.0/ports", json={"port": {"network_id": network}})
        api.post("/v2.0/routers", json={"router": {"name": "r"}})
        after = usage(backend, berlin)
        assert {
            name: after[name] - before[name] for name in ("networks", "subnets", "ports", "routers")
        } == dict.fromkeys(("networks", "subnets", "ports", "routers"), 1)
        # made by Neutron for the first port
        assert after["security_groups"] == 1

    def test_quota_is_enforced_and_shown_to_others(
        self,
        backend: QuotaBackend,
        service: ServiceDef,
        api: Adapter,
        berlin: ProjectInfo,
        keystone: RealKeystone,
        real_venv: RealVenv,
    ) -> None:
        used = usage(backend, berlin)
        calls.set_quota(backend, service, berlin, used | {"networks": used["networks"] + 1, "security_groups": 7})
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
        calls.set_quota(backend, service, berlin, dict.fromkeys(service.resources, 50))
        admin = Adapter(session, service_type="network")
        admin.put(f"/v2.0/quotas/{berlin.id}", json={"quota": {"router": 1, "port": -1}})
        quotas = {name: one.quota for name, one in report(backend, berlin).items()}
        assert (quotas["routers"], str(quotas["ports"]), quotas["networks"]) == (1, "Unlimited.UNLIMITED", 50)

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
            quotas = {name: 100 + position for position, name in enumerate(service.resources)}
            calls.set_quota(backend, service, berlin, quotas)
            assert {name: one.quota for name, one in report(backend, berlin).items()} == quotas
        finally:
            octavia.service.close()
