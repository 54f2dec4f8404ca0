"""The plugin `volumev2` and the capacitor `cinder` against a real Cinder."""

import subprocess
import time
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session

from limes.backends import (
    BackendError,
    CapacityBackend,
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
from tests.backends.quota_cases import QuotaCasesWithKeystone, project_of, report, session_of, set_quota, used
from tests.support.cinder import RealCinder
from tests.support.keystone import RealKeystone
from tests.support.processes import free_port
from tests.support.real import RealVenv

pytestmark = [pytest.mark.real, pytest.mark.long]

TYPES = {"volume_types": ["fast", "slow"], "max_age": 0}


@pytest.fixture(scope="module")
def session(keystone: RealKeystone, cinder: RealCinder) -> Session:
    return session_of(keystone)


@pytest.fixture(scope="module")
def admin(session: Session) -> Adapter:
    """Cinder as an administrator sees it."""
    return Adapter(session, service_type="block-storage")


@pytest.fixture(scope="module")
def berlin(keystone: RealKeystone) -> ProjectInfo:
    return project_of(keystone, "berlin")


class Volumes:
    """Cinder as a member of berlin uses it."""

    def __init__(self, session: Session) -> None:
        self.api = Adapter(session, service_type="block-storage", default_microversion="3.70")

    def create(self, type_: str, size: int, name: str) -> Any:
        zone = {"fast": "az-one", "slow": "az-two"}[type_]
        body = {"name": name, "size": size, "volume_type": type_, "availability_zone": zone}
        answer = self.api.post("/volumes", json={"volume": body}, raise_exc=False)
        if answer.status_code != 202:
            return answer
        return self.wait("volumes", answer.json()["volume"]["id"])

    def snapshot(self, volume: Any, name: str) -> Any:
        body = {"snapshot": {"volume_id": volume["id"], "name": name}}
        return self.wait("snapshots", self.api.post("/snapshots", json=body).json()["snapshot"]["id"])

    def wait(self, what: str, id_: Any) -> Any:
        deadline = time.monotonic() + 200
        while True:
            shown = self.api.get(f"/{what}/{id_}").json()[what[:-1]]
            if shown["status"] == "available":
                return shown
            assert shown["status"] != "error", shown
            assert time.monotonic() < deadline, shown
            time.sleep(0.2)


@pytest.fixture(scope="module")
def volumes(keystone: RealKeystone, admin: Adapter) -> Volumes:
    return Volumes(session_of(keystone, "berlin-member", "berlin"))


@pytest.fixture(scope="module")
def stored(volumes: Volumes) -> tuple[Any, Any, Any]:
    """Two volumes in different AZs, and a snapshot of one."""
    fast, slow = volumes.create("fast", 3, "data"), volumes.create("slow", 10, "archive")
    return fast, slow, volumes.snapshot(slow, "before")


def load(session: None, **params: Any) -> QuotaBackend:
    params = {**TYPES, **params}
    return load_quota("volumev2", params, name="volumev2", session_factory=lambda: session).quota["volumev2"]


class TestCinder(QuotaCasesWithKeystone):
    @pytest.fixture
    def backend(self, session: Session, admin: Adapter) -> QuotaBackend:
        return load(session)

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        return load(None, endpoint=f"http://127.0.0.1:{free_port()}/v3", auth={"type": "token", "token": "t"})

    def test_description(self, service: ServiceDef) -> None:
        assert service.resources["capacity"] == ResourceDef("capacity", Unit.GIB, "fast", az_aware=True)
        assert service.resources["volumes_slow"] == ResourceDef("volumes_slow", category="slow", az_aware=True)

    @pytest.mark.parametrize("max_age", [0, 60])
    def test_what_is_stored_is_usage(
        self, session: Session, stored: tuple[Any, Any, Any], berlin: ProjectInfo, max_age: int
    ) -> None:
        assert used(load(session, max_age=max_age, page_size=1), berlin) == {
            "capacity": {"az-one": 3},
            "volumes": {"az-one": 1},
            "capacity_slow": {"az-two": 20},
            "volumes_slow": {"az-two": 1},
            "snapshots_slow": {"az-two": 1},
        }

    def test_of_unknown_type(self, session: Session, stored: tuple[Any, Any, Any], berlin: ProjectInfo) -> None:
        found = used(load(session, volume_types=["fast"]), berlin)
        assert found == {
            "capacity": {"az-one": 3, "az-two": 20}, "volumes": {"az-one": 1, "az-two": 1}, "snapshots": {"az-two": 1},
        }  # fmt: skip

    def test_subresources(self, session: Session, stored: tuple[Any, Any, Any], berlin: ProjectInfo) -> None:
        backend = load(session, with_volume_subresources=True, with_snapshot_subresources=True)
        found = report(backend, berlin)
        fast, slow, snapshot = stored
        assert found["volumes"].per_az["az-one"].subresources == (
            {
                "id": fast["id"],
                "name": "data",
                "status": "available",
                "size": {"value": 3, "unit": "GiB"},
                "availability_zone": "az-one",
            },
        )
        shown = found["snapshots_slow"].per_az["az-two"].subresources
        assert [(one["id"], one["volume_id"]) for one in shown] == [(snapshot["id"], slow["id"])]

    def test_quota_is_enforced_and_shown_to_others(
        self,
        backend: QuotaBackend,
        service: ServiceDef,
        volumes: Volumes,
        stored: tuple[Any, Any, Any],
        berlin: ProjectInfo,
        keystone: RealKeystone,
        real_venv: RealVenv,
    ) -> None:
        quotas = dict.fromkeys(service.resources, 100)
        set_quota(backend, berlin, quotas | {"volumes": 1, "capacity_slow": 21})
        assert volumes.create("fast", 1, "too-many").status_code == 413
        assert volumes.create("slow", 2, "too-large").status_code == 413
        credentials = {f"OS_{key.upper()}": value for key, value in keystone.credentials("operator").items()}
        shown = subprocess.run(
            [real_venv.bin("openstack"), "quota", "show", "--volume", berlin.id, "-f", "value", "-c", "Resource", "-c", "Limit"],
            env={**credentials, "OS_IDENTITY_API_VERSION": "3", "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert {"volumes_fast 1", "gigabytes_slow 21", "volumes 101"} <= set(shown.stdout.splitlines()), shown.stderr

    def test_a_quota_changed_behind_our_back_is_seen(
        self, backend: QuotaBackend, service: ServiceDef, berlin: ProjectInfo, admin: Adapter
    ) -> None:
        set_quota(backend, berlin, dict.fromkeys(service.resources, 50))
        admin.put(f"/os-quota-sets/{berlin.id}", json={"quota_set": {"volumes_slow": 7, "gigabytes_fast": -1}})
        found = report(backend, berlin)
        assert (found["volumes_slow"].quota, str(found["capacity"].quota)) == (7, "Unlimited.UNLIMITED")

    def test_a_type_that_does_not_exist(self, session: Session, admin: Adapter, berlin: ProjectInfo) -> None:
        with pytest.raises(
            BackendError, match=r"Cinder has no quota 'gigabytes_nonsense' .is there such a volume type"
        ):
            report(load(session, volume_types=["nonsense"]), berlin)

    def test_a_user_without_the_role(self, keystone: RealKeystone, admin: Adapter, berlin: ProjectInfo) -> None:
        session = session_of(keystone, "munich-member", "munich")
        with pytest.raises(BackendError, match=r"Cinder refuses the user of Limes with 403|no os-vol-tenant-attr"):
            report(load(session), berlin)


def test_the_services_of_this_cinder_report_each_for_itself(admin: Adapter) -> None:
    """However long the tests run, a backend stays in its AZ: no service writes its own into the row of another."""
    deadline, hosts = time.monotonic() + 200, {"h1", "h1@fast", "h1@slow"}
    begun = {one["host"]: one["updated_at"] for one in admin.get("/os-services").json()["services"]}
    reported = set()
    while reported != hosts:
        assert time.monotonic() < deadline, f"only {sorted(reported)} of {sorted(hosts)} say that they are alive"
        time.sleep(0.2)
        shown = admin.get("/os-services").json()["services"]
        reported = {one["host"] for one in shown if one["updated_at"] != begun[one["host"]]}
        assert {one["host"]: one["zone"] for one in shown} == {"h1": "nova", "h1@fast": "az-one", "h1@slow": "az-two"}


class TestCapacity(CapacityBackendContract, BrokenCapacityContract):
    POOLS = {"fast": {"volume_backend_name": "fast", "default": True}, "slow": {"volume_backend_name": "slow"}}

    @pytest.fixture
    def backend(self, session: Session, admin: Adapter) -> CapacityBackend:
        return self.load(session, with_subcapacities=True)

    def load(self, session: None, **params: Any) -> CapacityBackend:
        params = {"volume_types": self.POOLS, **params}
        return load_capacity("cinder", params, session_factory=lambda: session).capacity["under-test"]

    @pytest.fixture
    def broken_backend(self) -> CapacityBackend:
        return self.load(None, endpoint=f"http://127.0.0.1:{free_port()}/v3", auth={"type": "token", "token": "t"})

    @pytest.fixture
    def catalog(self) -> Catalog:
        names = ("capacity", "capacity_slow")
        return Catalog(AZS, [ServiceDef("volumev2", "storage", {name: ResourceDef(name) for name in names})])

    def test_capacity(self, backend: CapacityBackend, catalog: Catalog) -> None:
        found = calls.report_capacity(backend, "under-test", catalog).services["volumev2"]
        assert {name: {az: one.capacity for az, one in per_az.items()} for name, per_az in found.items()} == {
            "capacity": {"az-one": 1000}, "capacity_slow": {"az-two": 5000},
        }  # fmt: skip
        pool = found["capacity"]["az-one"].subcapacities[0]
        assert (pool["pool_name"], pool["az"], pool["capacity_gib"], pool["exclusion_reason"]) == (
            "h1@fast#pool1", "az-one", 1000, "",
        )  # fmt: skip
