"""The plugin `sharev2` against a real Manila (its API; shares as a share server would leave them), its capacitor against
recorded shapes, because pools need a scheduler."""

from collections.abc import Iterator
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from limes_plugins.share import KEYS

from limes.backends import (
    AZCapacity,
    BackendError,
    CapacityBackend,
    ConfigError,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    ServiceDef,
    calls,
)
from limes.backends.contract import BrokenCapacityContract, CapacityBackendContract
from limes.catalog.catalog import Catalog
from tests.backends.conftest import AZS, load_capacity, load_quota
from tests.backends.quota_cases import QuotaCasesOfNewProjects, report, session_of, set_quota, some_project, used
from tests.support.keystone import RealKeystone
from tests.support.manila import RealManila, start_manila
from tests.support.processes import free_port
from tests.support.real import RealVenv
from tests.support.recorded import Asked, RecordedService

TYPES = {"share_types": [{"name": "gold"}, {"name": "silver", "replication_enabled": True}], "max_age": 0}
TOKEN = {"type": "token", "token": "t"}


@pytest.fixture(scope="module")
def manila(
    real_venv: RealVenv, keystone: RealKeystone, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealManila]:
    server = start_manila(real_venv, tmp_path_factory.mktemp("manila"), keystone.credentials("placement"))
    keystone.set_endpoint("shared-file-system", f"{server.url}/v2")
    yield server
    server.process.stop()


@pytest.fixture(scope="module")
def session(keystone: RealKeystone, manila: RealManila) -> Session:
    return session_of(keystone)


@pytest.fixture(scope="module")
def admin(session: Session) -> Adapter:
    return Adapter(session, service_type="shared-file-system", default_microversion="2.65")


@pytest.fixture(scope="module")
def types(admin: Adapter) -> dict[str, Any]:
    """Ids of the share types, by name."""
    made = {}
    for name in ("gold", "silver", "silver-special"):
        specs = {"driver_handles_share_servers": False}
        body = {"share_type": {"name": name, "share_type_access:is_public": True, "extra_specs": specs}}
        made[name] = admin.post("/types", json=body).json()["share_type"]["id"]
    return made


def load(session: None, **params: Any) -> QuotaBackend:
    params = {**TYPES, **params}
    return load_quota("sharev2", params, name="sharev2", session_factory=lambda: session).quota["sharev2"]


@pytest.mark.long
@pytest.mark.real
class TestManila(QuotaCasesOfNewProjects):
    @pytest.fixture
    def backend(self, session: Session, types: dict[str, Any]) -> QuotaBackend:
        return load(session)

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        return load(None, endpoint=f"http://127.0.0.1:{free_port()}/v2", auth=TOKEN)

    @pytest.mark.parametrize("max_age", [0, 60])
    def test_what_is_stored_is_usage(
        self, session: Session, manila: RealManila, types: dict[str, Any], max_age: int
    ) -> None:
        project = some_project()
        manila.insert_share(project.id, types["gold"], "az-one", 5)
        share = manila.insert_share(project.id, types["silver"], "az-two", 7)
        manila.insert_snapshot(project.id, share, 7)
        manila.insert_snapshot(project.id, share, 7)
        assert used(load(session, max_age=max_age, page_size=1), project) == {
            "shares": {"az-one": 1},
            "share_capacity": {"az-one": 5},
            "shares_silver": {"az-two": 1},
            "share_capacity_silver": {"az-two": 7},
            "share_snapshots_silver": {"az-two": 2},
            "snapshot_capacity_silver": {"az-two": 14},
        }

    def test_subresources(self, session: Session, manila: RealManila, types: dict[str, Any]) -> None:
        project = some_project()
        gold = manila.insert_share(project.id, types["gold"], "az-one", 5)
        silver = manila.insert_share(project.id, types["silver"], "az-two", 7)
        manila.insert_snapshot(project.id, silver, 7)
        backend = load(session, with_share_subresources=True, with_snapshot_subresources=True, page_size=1)
        found = report(backend, project)
        for name, az, id_, size, type_ in (
            ("shares", "az-one", gold, 5, "gold"),
            ("shares_silver", "az-two", silver, 7, "silver"),
        ):
            attributes = {
                "id": id_,
                "size": {"value": size, "unit": "GiB"},
                "share_type": type_,
                "availability_zone": az,
            }
            common = {"name": "s", "status": "available", "share_proto": "NFS"}
            assert found[name].per_az[az].subresources == (attributes | common,)
        [snapshot] = found["share_snapshots_silver"].per_az["az-two"].subresources
        assert {key: snapshot[key] for key in ("share_id", "size", "share_type", "status")} == {
            "share_id": silver, "size": {"value": 7, "unit": "GiB"}, "share_type": "silver", "status": "available",
        }  # fmt: skip
        assert found["share_capacity"].per_az["az-one"].subresources == ()
        described = backend.describe().resources
        assert described["shares_silver"].billed_attributes[:2] == ("size", "share_type")
        assert described["share_capacity"].billed_attributes == ()

    def test_quota_of_types_and_of_all(
        self, backend: QuotaBackend, service: ServiceDef, project: ProjectInfo, admin: Adapter
    ) -> None:
        names = sorted(service.resources)
        set_quota(backend, project, {name: number for number, name in enumerate(names)})
        overall = admin.get(f"/quota-sets/{project.id}").json()["quota_set"]
        of_silver = admin.get(f"/quota-sets/{project.id}?share_type=silver").json()["quota_set"]
        assert overall["shares"] == names.index("shares") + names.index("shares_silver")
        assert overall["share_networks"] == names.index("share_networks")
        assert of_silver["gigabytes"] == of_silver["replica_gigabytes"] == names.index("share_capacity_silver")

    def test_a_type_with_another_name_for_some(
        self, session: Session, manila: RealManila, types: dict[str, Any], admin: Adapter
    ) -> None:
        rules = [
            {"name_pattern": "north/special", "name": "silver-special"},
            {"name_pattern": "north/none", "name": ""},
        ]
        backend = load(session, share_types=[{"name": "gold"}, {"name": "silver", "mapping_rules": rules}])
        special, forbidden = some_project("special"), some_project("none")
        quotas = dict.fromkeys(backend.describe().resources, 5)
        set_quota(backend, special, quotas)
        shown = admin.get(f"/quota-sets/{special.id}?share_type=silver-special").json()["quota_set"]
        assert shown["shares"] == 5
        manila.insert_share(special.id, types["silver-special"], "az-one", 3)
        assert used(backend, special) == {"shares_silver": {"az-one": 1}, "share_capacity_silver": {"az-one": 3}}
        set_quota(backend, forbidden, quotas)
        found = report(backend, forbidden)
        assert (found["shares"].quota, found["shares_silver"].quota) == (5, 0)
        assert (found["shares"].max_quota, found["shares_silver"].max_quota) == (None, 0)

    def test_a_type_that_does_not_exist(self, session: Session, types: dict[str, Any], project: ProjectInfo) -> None:
        with pytest.raises(BackendError, match="Manila knows no share type 'nonsense'"):
            report(load(session, share_types=[{"name": "nonsense"}]), project)

    def test_a_user_without_the_role(self, keystone: RealKeystone, types: dict[str, Any], project: ProjectInfo) -> None:
        session = session_of(keystone, "munich-member", "munich")
        with pytest.raises(BackendError, match="Manila refuses the user of Limes with 403"):
            report(load(session), project)


POOLS = {
    "gold": [
        {"name": "h@a#1", "capabilities": {"total_capacity_gb": 1000, "allocated_capacity_gb": 100}},
        {"name": "h@b#1", "capabilities": {"total_capacity_gb": 500.5, "allocated_capacity_gb": 0}},
        {"name": "h@b#2", "capabilities": {"total_capacity_gb": 700, "hardware_state": "drain"}},
        {"name": "h@b#3", "capabilities": {"total_capacity_gb": "unknown"}},
    ],
    "silver": [],
}


@pytest.fixture
def pools() -> Iterator[RecordedService]:
    version = {"id": "v2.0", "status": "CURRENT", "version": "2.65", "min_version": "2.0"}
    versions = {"versions": [version | {"links": [{"rel": "self", "href": "x"}]}]}
    services = {"services": [{"host": "h@a", "zone": "az-one"}, {"host": "h@b", "zone": "az-two"}]}
    networks = [{"id": str(number), "project_id": "p"} for number in range(10)]

    def list_networks(request: Asked) -> tuple[int, Any]:
        return 200, {"share_networks": networks[int(request.query["offset"][0]) :]}

    def list_pools(request: Asked) -> tuple[int, Any]:
        return 200, {"pools": POOLS[request.query["share_type"][0]]}

    service = RecordedService(
        {
            ("GET", "/v2/?"): lambda request: (200, versions),
            ("GET", "/v2/services"): lambda request: (200, services),
            ("GET", "/v2/share-networks/detail"): list_networks,
            ("GET", "/v2/scheduler-stats/pools/detail"): list_pools,
        }
    )
    yield service
    service.close()


class MovingShares:
    """A Manila whose list of shares, the newest first, grows by one while it is read."""

    def __init__(self, times: int) -> None:
        self.shares = [{"id": f"s{number}", "project_id": "p1", "size": 1} for number in range(5)]
        self.times = times

    def list(self, request: Asked) -> tuple[int, Any]:
        offset, limit = int(request.query["offset"][0]), int(request.query["limit"][0])
        page = self.shares[offset : offset + limit]
        if self.times and not offset:
            self.times -= 1
            self.shares.insert(0, {"id": f"new{self.times}", "project_id": "p1", "size": 1})
        return 200, {"shares": page}


class TestPagesByOffset:
    @pytest.fixture
    def manila(self, pools: RecordedService) -> RecordedService:
        pools.routes |= {
            ("GET", "/v2/snapshots/detail"): lambda request: (200, {"snapshots": []}),
            ("GET", "/v2/quota-sets/.+"): lambda request: (
                200,
                {"quota_set": dict.fromkeys((*KEYS.values(), "share_networks"), 10)},
            ),
        }
        return pools

    def shares(self, manila: RecordedService, project: ProjectInfo, times: int) -> list[str]:
        moving = MovingShares(times)
        manila.routes["GET", "/v2/shares/detail"] = moving.list
        backend = load(
            None,
            endpoint=f"{manila.url}/v2", auth=TOKEN, share_types=[{"name": "gold"}], page_size=2,
            with_share_subresources=True,
        )  # fmt: skip
        found = report(backend, project)["shares"].per_az["unknown"]
        assert found.usage == len(found.subresources)
        return sorted(entry["id"] for entry in found.subresources)

    def test_a_list_that_moves_is_read_again(self, manila: RecordedService, project: ProjectInfo) -> None:
        assert self.shares(manila, project, 1) == ["new0", "s0", "s1", "s2", "s3", "s4"]

    def test_a_list_that_never_stands_still_is_an_error(self, manila: RecordedService, project: ProjectInfo) -> None:
        with pytest.raises(
            BackendError, match="GET /shares/detail: the list changes while it is read, 5 times in a row"
        ):
            self.shares(manila, project, 100)


class TestCapacity(CapacityBackendContract, BrokenCapacityContract):
    @pytest.fixture
    def backend(self, pools: RecordedService) -> CapacityBackend:
        return self.load(pools.url)

    def load(self, url: str, **params: Any) -> CapacityBackend:
        params = {
            "endpoint": f"{url}/v2", "auth": TOKEN, "share_types": TYPES["share_types"], "shares_per_pool": 100,
            "snapshots_per_share": 5, "capacity_balance": 0.5, "with_subcapacities": True, **params,
        }  # fmt: skip
        return load_capacity("manila", params).capacity["under-test"]

    @pytest.fixture
    def broken_backend(self) -> CapacityBackend:
        return self.load(f"http://127.0.0.1:{free_port()}")

    @pytest.fixture
    def catalog(self, backend: CapacityBackend) -> Catalog:
        names = [ref[1] for ref in backend.resources()]
        return Catalog(AZS, [ServiceDef("sharev2", "storage", {name: ResourceDef(name) for name in names})])

    def test_capacity(self, backend: CapacityBackend, catalog: Catalog) -> None:
        found = calls.report_capacity(backend, "under-test", catalog).services["sharev2"]
        assert found["shares"] == {"az-one": AZCapacity(95), "az-two": AZCapacity(95)}
        assert found["share_snapshots"] == {"az-one": AZCapacity(475), "az-two": AZCapacity(475)}
        here, there = found["share_capacity"]["az-one"], found["share_capacity"]["az-two"]
        assert (here.capacity, here.usage, there.capacity) == (666, 67, 333)
        assert found["snapshot_capacity"]["az-one"].capacity == 333
        assert [pool["exclusion_reason"] for pool in there.subcapacities] == [
            "", "hardware_state is 'drain'", "total_capacity_gb is 'unknown'",
        ]  # fmt: skip
        assert found["shares_silver"] == {}


def test_params_are_checked() -> None:
    with pytest.raises(ConfigError) as caught:
        load_quota("sharev2", {"share_types": [{"name": "a"}, {"name": "a"}]})
    assert "the share type 'a' is given more than once" in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        load_quota("sharev2", {"share_types": [{"name": "a", "mapping_rules": [{"name_pattern": "(", "name": "b"}]}]})
    assert "name_pattern: is no regular expression" in str(caught.value).replace("Value error, ", "")
