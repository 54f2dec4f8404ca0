"""What asks a real Keystone: the discovery method `list`, and quota in unified limits."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from limes.backends import UNLIMITED, BackendError, DiscoveryBackend, DomainInfo, ProjectInfo, QuotaBackend, calls
from limes.backends.contract import BrokenDiscoveryContract, DiscoveryBackendContract
from limes.backends.loader import BackendSpec, load
from tests.backends.conftest import AZS, load_quota
from tests.backends.placement_cloud import PlacementCloud
from tests.backends.quota_cases import (
    QuotaCasesWithKeystone,
    project_of,
    quotas,
    report,
    session_of,
    set_quota,
    some_project,
)
from tests.support.keystone import RealKeystone
from tests.support.processes import free_port
from tests.support.upstream_placement import UpstreamPlacement

RESOURCES = {"cores": "VCPU", "ram": "MEMORY_MB"}


@pytest.fixture(scope="module")
def session(keystone: RealKeystone) -> Session:
    return session_of(keystone)


@pytest.fixture(scope="module")
def no_session() -> Session:
    """Credentials for a Keystone that is not there."""
    url = f"http://127.0.0.1:{free_port()}/v3"
    return Session(v3.Password(url, username="u", password="secret-word", user_domain_id="d", project_id="p"))


class TestList(DiscoveryBackendContract, BrokenDiscoveryContract):
    def load(self, session: Session, **params: Any) -> DiscoveryBackend:
        spec = BackendSpec("discovery", "list", "list", params, "method")
        return load([], [], spec, availability_zones=AZS, session_factory=lambda: session).discovery

    @pytest.fixture
    def backend(self, session: Session) -> DiscoveryBackend:
        return self.load(session)

    @pytest.fixture
    def broken_backend(self, no_session: Session) -> DiscoveryBackend:
        return self.load(no_session)

    def test_lists_everything(self, backend: DiscoveryBackend, keystone: RealKeystone) -> None:
        domains = {domain.name: domain for domain in calls.list_domains(backend, None, None)}
        assert {name: domain.id for name, domain in domains.items() if name in ("north", "south")} == {
            name: keystone.ids.domains[name] for name in ("north", "south")
        }
        north, ids = domains["north"], keystone.ids.projects
        found = {project.name: project for project in calls.list_projects(backend, north)}
        assert {name: found[name] for name in ("berlin", "dresden", "hamburg")} == {
            "berlin": ProjectInfo(ids["berlin"], "berlin", north.id, north),
            "dresden": ProjectInfo(ids["dresden"], "dresden", ids["berlin"], north),
            "hamburg": ProjectInfo(ids["hamburg"], "hamburg", north.id, north),
        }
        assert "munich" not in found

    def test_pages_are_put_together(self, backend: DiscoveryBackend, session: Session) -> None:
        paged = self.load(session, page_size=1)
        assert set(paged.list_domains()) == set(backend.list_domains())
        for domain in backend.list_domains():
            assert set(paged.list_projects(domain)) == set(backend.list_projects(domain))

    def test_only_enabled_ones(self, keystone: RealKeystone, session: Session) -> None:
        domain = DomainInfo(keystone.create_domain("closed"), "closed")
        project = keystone.create_project("shut", "closed")
        keystone.api.patch(f"/projects/{project}", json={"project": {"enabled": False}})
        everything, enabled = self.load(session), self.load(session, only_enabled=True)
        try:
            assert [one.id for one in everything.list_projects(domain)] == [project]
            assert list(enabled.list_projects(domain)) == []
            assert domain in enabled.list_domains()
            keystone.api.patch(f"/domains/{domain.id}", json={"domain": {"enabled": False}})
            assert domain in everything.list_domains()
            assert domain not in enabled.list_domains()
        finally:
            keystone.delete_project("shut")
            keystone.delete_domain("closed")

    def test_its_other_name(self, session: Session, backend: DiscoveryBackend) -> None:
        spec = BackendSpec("discovery", "keystone", "keystone", {}, "method")
        found = load([], [], spec, availability_zones=AZS, session_factory=lambda: session).discovery
        assert set(found.list_domains()) == set(backend.list_domains())

    def test_who_may_not_list_gets_an_error_and_not_an_empty_list(self, keystone: RealKeystone) -> None:
        backend = self.load(session_of(keystone, "berlin-member", "berlin"))
        with pytest.raises(BackendError, match="403"):
            calls.list_domains(backend, None, None)
        with pytest.raises(BackendError, match="403"):
            calls.list_projects(backend, DomainInfo(keystone.ids.domains["north"], "north"))

    def test_the_password_is_in_no_error(
        self, broken_backend: DiscoveryBackend, caplog: pytest.LogCaptureFixture
    ) -> None:
        with pytest.raises(BackendError) as error:
            calls.list_domains(broken_backend, None, None)
        assert "secret-word" not in str(error.value) + caplog.text


class TestKeystoneLimits(QuotaCasesWithKeystone):
    """Each test has a service of its own in the catalog, so that it begins without limits."""

    @pytest.fixture
    def limits_service(self, keystone: RealKeystone) -> Iterator[dict[str, Any]]:
        name = f"limits-{uuid.uuid4()}"
        made = keystone.api.post("/services", json={"service": {"type": name, "name": name}}).json()["service"]
        yield made
        for collection in ("limits", "registered_limits"):
            for item in self.limits(keystone, made, collection):
                keystone.api.delete(f"/{collection}/{item['id']}")
        keystone.api.delete(f"/services/{made['id']}")

    def limits(self, keystone: RealKeystone, limits_service: dict[str, Any], collection: str) -> Any:
        return keystone.api.get(f"/{collection}?service_id={limits_service['id']}").json()[collection]

    def load(
        self, upstream_placement: UpstreamPlacement, session: Session, limits_service: dict[Any, Any], **quota: Any
    ) -> QuotaBackend:
        params = {
            "area": "compute",
            "endpoint": upstream_placement.url,
            "auth": {"type": "token", "token": "admin"},
            "resources": RESOURCES,
            "quota": {"store": "keystone_limits", "service_type": limits_service["type"], **quota},
        }
        return load_quota("placement", params, session_factory=lambda: session).quota["compute"]

    @pytest.fixture
    def backend(
        self, upstream_placement: UpstreamPlacement, session: Session, limits_service: dict[str, Any]
    ) -> QuotaBackend:
        return self.load(upstream_placement, session, limits_service)

    @pytest.fixture
    def broken_backend(self, upstream_placement: UpstreamPlacement, no_session: Session) -> QuotaBackend:
        return self.load(upstream_placement, no_session, {"type": "compute"})

    def test_limits_are_made_once_and_changed_afterwards(
        self, keystone: RealKeystone, backend: QuotaBackend, project: ProjectInfo, limits_service: dict[str, Any]
    ) -> None:
        assert quotas(backend, project) == {"cores": 0, "ram": 0}
        set_quota(backend, project, {"cores": 5, "ram": 100})
        registered = {
            item["resource_name"]: (item["default_limit"], item["region_id"])
            for item in self.limits(keystone, limits_service, "registered_limits")
        }
        assert registered == {"class:VCPU": (0, None), "class:MEMORY_MB": (0, None)}
        first = self.limits(keystone, limits_service, "limits")
        set_quota(backend, project, {"cores": 6, "ram": 100})
        second = self.limits(keystone, limits_service, "limits")
        assert {item["id"] for item in first} == {item["id"] for item in second}
        assert {(item["resource_name"], item["resource_limit"], item["project_id"]) for item in second} == {
            ("class:VCPU", 6, project.id),
            ("class:MEMORY_MB", 100, project.id),
        }

    def test_regions_names_and_defaults(
        self,
        keystone: RealKeystone,
        upstream_placement: UpstreamPlacement,
        session: Session,
        limits_service: dict[str, Any],
        project: ProjectInfo,
    ) -> None:
        region = keystone.api.get("/regions").json()["regions"][0]["id"]
        options = {"region_id": region, "limit_names": {"cores": "gold-cores"}, "default_limit": -1}
        in_region = self.load(upstream_placement, session, limits_service, **options)
        elsewhere = self.load(upstream_placement, session, limits_service)
        set_quota(in_region, project, {"cores": 5, "ram": 100})
        assert quotas(in_region, project) == {"cores": 5, "ram": 100}
        assert quotas(elsewhere, project) == {"cores": 0, "ram": 0}
        assert quotas(in_region, project_of(keystone, "berlin")) == {"cores": UNLIMITED, "ram": UNLIMITED}
        found = {(item["resource_name"], item["region_id"]) for item in self.limits(keystone, limits_service, "limits")}
        assert found == {("gold-cores", region), ("class:MEMORY_MB", region)}

    def test_a_service_that_is_not_in_the_catalog_is_an_error(
        self, upstream_placement: UpstreamPlacement, session: Session, project: ProjectInfo
    ) -> None:
        backend = self.load(upstream_placement, session, {"type": "no-such-service"})
        with pytest.raises(BackendError, match="0 services of type 'no-such-service'"):
            set_quota(backend, project, {"cores": 5, "ram": 100})

    def test_what_keystone_refuses_is_an_error(self, backend: QuotaBackend, project: ProjectInfo) -> None:
        with pytest.raises(BackendError, match="400"):
            set_quota(backend, project, {"cores": 2**31, "ram": 100})


def test_with_the_session_of_keystone_and_placement_from_its_catalog(
    keystone: RealKeystone, upstream_placement_with_keystone: UpstreamPlacement
) -> None:
    session = session_of(keystone)  # a new one: it has to see the catalog's new endpoint
    token = keystone.project_token("limes", "service")
    cloud = PlacementCloud(upstream_placement_with_keystone.url, token)
    project = some_project()  # others use this Placement too, and count what berlin has there
    host = cloud.provider("host", {"VCPU": {"total": 10}})
    consumer = cloud.allocate(project.id, host, VCPU=2)
    params = {"area": "compute", "resources": RESOURCES}
    backend = load_quota("placement", params, session_factory=lambda: session).quota["compute"]
    assert report(backend, project)["cores"].per_az["any"].usage == 2
    cloud.request("DELETE", f"/allocations/{consumer}")
    cloud.request("DELETE", f"/resource_providers/{host}")
