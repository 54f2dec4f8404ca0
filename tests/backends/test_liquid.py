"""The plugin `liquid` against a liquid of recorded shapes. The other end, `limes liquid`, has test_limes_liquid.py."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from limes_plugins.liquid import share_out
from msgspec import structs

from limes.backends import (
    UNLIMITED,
    AZDemand,
    BackendError,
    CapacityBackend,
    ConfigError,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    ResourceDemand,
    ServiceDef,
    Unit,
    calls,
)
from limes.backends.contract import BrokenCapacityContract, CapacityBackendContract
from limes.catalog.catalog import Catalog
from tests.backends.conftest import AZS, load_capacity, load_quota
from tests.backends.quota_cases import QuotaCases, report, set_quota
from tests.support.processes import free_port
from tests.support.recorded import Asked, RecordedService

TOKEN = {"type": "token", "token": "secret-token"}
INFO = {
    "version": 7,
    "displayName": "Storage",
    "categories": {"disks": {"displayName": "Disks"}},
    "resources": {
        "capacity": {
            "displayName": "Capacity", "unit": "GiB", "categoryName": "disks", "topology": "az-separated",
            "hasCapacity": True, "hasQuota": True, "needsResourceDemand": True, "somethingNew": {"a": 1},
        },
        "shares": {"topology": "az-aware", "hasCapacity": True, "hasQuota": True},
        "networks": {"topology": "flat", "hasCapacity": False, "hasQuota": False},
    },
    "rates": {},
    "usageReportNeedsProjectMetadata": True,
    "quotaUpdateNeedsProjectMetadata": True,
}  # fmt: skip
DEFINITIONS = {
    "capacity": ResourceDef("capacity", Unit.GIB, "disks", az_aware=True, az_separated=True),
    "shares": ResourceDef("shares", az_aware=True),
    "networks": ResourceDef("networks", tracks_quota=False),
}
METADATA = {"uuid": "p1", "name": "alpha", "domain": {"uuid": "d1", "name": "one"}}


class Liquid:
    """Has 10 GiB of each project in the first AZ, and quotas by project, resource and AZ."""

    def __init__(self) -> None:
        self.info = INFO
        self.version = 7
        self.quotas = {}
        self.state = self.told = None
        self.reports = 0
        self.service = RecordedService(
            {
                ("GET", "/v1/info"): lambda request: (200, self.info),
                ("POST", "/v1/projects/(.+)/report-usage"): self.usage,
                ("PUT", "/v1/projects/(.+)/quota"): self.set_quota,
                ("POST", "/v1/report-capacity"): self.capacity,
            }
        )

    def usage(self, request: Asked, project: str) -> tuple[int, dict[str, Any]]:
        self.told = request.body.get("serializedState")
        self.reports += 1
        assert request.headers["X-Auth-Token"] == "secret-token"
        assert request.body["allAZs"] == list(AZS)
        assert request.body["projectMetadata"]["uuid"] == project
        known = project != "p-new"
        quota = self.quotas.get(project, {})
        shares = quota.get("capacity", {}).get("perAZ", {})
        snapshot = {"id": "s1", "name": "daily", "attributes": {"status": "ok"}}
        per_az = {
            az: {"usage": 10 * known * (az == AZS[0]), "physicalUsage": 4 * known * (az == AZS[0])}
            | {"quota": shares.get(az, {"quota": -1})["quota"]}
            for az in AZS
        }
        per_az[AZS[0]]["subresources"] = [snapshot]
        return 200, {
            "infoVersion": self.version,
            "resources": {
                "capacity": {"forbidden": False, "perAZ": per_az},
                "shares": {
                    "forbidden": "shares" not in quota,
                    "perAZ": {az: {"usage": int(known)} for az in AZS},
                    **({"quota": quota["shares"]["quota"]} if "shares" in quota else {}),
                },
                "networks": {"forbidden": False, "perAZ": {"any": {"usage": 2 * known}}},
            },
            "rates": {},
            **({} if self.state is None else {"serializedState": self.state}),
        }

    def set_quota(self, request: Asked, project: str) -> tuple[int, None]:
        assert request.body["projectMetadata"]["uuid"] == project
        self.quotas[project] = request.body["resources"]
        return 204, None

    def capacity(self, request: Asked) -> tuple[int, dict[str, Any]]:
        self.demand = request.body["demandByResource"]
        pool = {"name": "pool1", "capacity": 100, "usage": 30, "attributes": {"exclusion_reason": ""}}
        shown = {"capacity": 100, "usage": 30, "subcapacities": [pool]}
        return 200, {
            "infoVersion": self.version,
            "resources": {
                "capacity": {"perAZ": {AZS[0]: shown, AZS[1]: {"capacity": 50}}},
                "shares": {"perAZ": {az: {"capacity": 1000} for az in AZS}},
            },
        }


@pytest.fixture
def liquid() -> Iterator[Liquid]:
    fake = Liquid()
    yield fake
    fake.service.close()


def load(url: str, **params: str) -> QuotaBackend:
    params = {"area": "storage", "endpoint": url, "auth": TOKEN, **params}
    return load_quota("liquid", params, name="sharev2").quota["sharev2"]


class TestService(QuotaCases):
    @pytest.fixture
    def backend(self, liquid: Liquid) -> QuotaBackend:
        return load(liquid.service.url)

    @pytest.fixture
    def broken_backend(self, tmp_path: Path) -> QuotaBackend:
        (tmp_path / "info.json").write_text(json.dumps(INFO))
        return load(f"http://127.0.0.1:{free_port()}", info_file=str(tmp_path / "info.json"))

    def test_description(self, service: ServiceDef) -> None:
        assert service == ServiceDef("sharev2", "storage", DEFINITIONS)

    def test_usage(self, backend: QuotaBackend, project: ProjectInfo) -> None:
        found = report(backend, project)
        here = found["capacity"].per_az[AZS[0]]
        assert (here.usage, here.physical_usage) == (10, 4)
        assert here.subresources == ({"id": "s1", "name": "daily", "status": "ok"},)
        assert found["capacity"].quota is UNLIMITED
        assert (found["shares"].quota, found["shares"].max_quota) == (0, 0)  # forbidden
        assert found["capacity"].max_quota is None
        assert found["networks"].quota is None
        assert {az: one.usage for az, one in found["shares"].per_az.items() if one.usage} == dict.fromkeys(AZS, 1)

    @pytest.mark.parametrize("number", [2**63 - 1, 2**64 - 1])
    def test_numbers_that_mean_unlimited(
        self, liquid: Liquid, backend: QuotaBackend, project: ProjectInfo, number: int
    ) -> None:
        by_az = {az: {"quota": number} for az in AZS}
        liquid.quotas["p1"] = {"capacity": {"perAZ": by_az}, "shares": {"quota": number}}
        found = report(backend, project)
        assert (found["capacity"].quota, found["shares"].quota) == (UNLIMITED, UNLIMITED)

    def test_the_state_goes_back_with_the_next_request(
        self, liquid: Liquid, backend: QuotaBackend, service: ServiceDef, catalog: Catalog, project: ProjectInfo
    ) -> None:
        liquid.state = {"counters": [1, None, "\0ü"]}
        first = calls.report_usage(backend, service, project, catalog)
        assert liquid.told is None
        liquid.state = None
        second = calls.report_usage(backend, service, structs.replace(project, scrape_state=first.state), catalog)
        assert liquid.told == {"counters": [1, None, "\0ü"]}
        assert second.state == ""

    def test_quota_by_az(self, liquid: Liquid, backend: QuotaBackend, project: ProjectInfo) -> None:
        set_quota(backend, project, {"capacity": 21, "shares": 5})
        assert liquid.quotas["p1"] == {
            "capacity": {"quota": 21, "perAZ": {AZS[0]: {"quota": 16}, AZS[1]: {"quota": 5}}},
            "shares": {"quota": 5},
        }

    def test_quota_by_az_that_limes_knows(self, liquid: Liquid, backend: QuotaBackend, project: ProjectInfo) -> None:
        """What is in no AZ, such as the base quota, is shared by all; and the liquid need not say what is used."""
        azs = {"capacity": {AZS[0]: 3, AZS[1]: 14, "any": 4}}
        set_quota(backend, project, {"capacity": 21, "shares": 5}, azs)
        assert liquid.quotas["p1"] == {
            "capacity": {"quota": 21, "perAZ": {AZS[0]: {"quota": 5}, AZS[1]: {"quota": 16}}},
            "shares": {"quota": 5},
        }
        assert liquid.reports == 0

    def test_a_new_version_with_the_same_resources(
        self, liquid: Liquid, backend: QuotaBackend, project: ProjectInfo, caplog: pytest.LogCaptureFixture
    ) -> None:
        backend.describe()
        liquid.version, liquid.info = 8, INFO | {"version": 8, "displayName": "Other"}
        for _ in range(3):
            report(backend, project)
        assert liquid.service.count("GET", "/v1/info") == 2
        assert "restart" not in caplog.text

    def test_a_new_version_with_other_resources(
        self,
        liquid: Liquid,
        backend: QuotaBackend,
        service: ServiceDef,
        project: ProjectInfo,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        more = INFO["resources"] | {"snapshots": {"hasQuota": True}}
        liquid.version, liquid.info = 8, INFO | {"version": 8, "resources": more}
        report(backend, project)
        assert "restart Limes to take them over" in caplog.text
        assert backend.describe() == service

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ((401, b"Unauthorized"), "liquid-sharev2 refuses the user of Limes with 401"),
            ((500, b"no connection to the filer"), "answered with 500: no connection to the filer"),
            ((200, {"infoVersion": 7, "resources": {}}), "the report has no resource 'capacity'"),
        ],
    )
    def test_odd_answers(
        self, liquid: Liquid, backend: QuotaBackend, project: ProjectInfo, answer: tuple[Any, ...], message: str
    ) -> None:
        liquid.service.content_type = "text/plain; charset=utf-8"
        liquid.service.routes[("POST", "/v1/projects/(.+)/report-usage")] = lambda request, project: answer
        backend.describe()
        with pytest.raises(BackendError, match=message):
            report(backend, project)


class TestInfoFile:
    def test_is_written_and_read_instead_of_asking(self, liquid: Liquid, tmp_path: Path) -> None:
        file = tmp_path / "info.json"
        assert load(liquid.service.url, info_file=str(file)).describe().resources == DEFINITIONS
        assert json.loads(file.read_text()) == INFO
        assert load("http://127.0.0.1:9", info_file=str(file)).describe().resources == DEFINITIONS
        assert liquid.service.count("GET", "/v1/info") == 1

    def test_garbage_in_it(self, liquid: Liquid, tmp_path: Path) -> None:
        file = tmp_path / "info.json"
        file.write_text('{"version": "x"}')
        with pytest.raises(ConfigError) as caught:
            load(liquid.service.url, info_file=str(file)).describe()
        assert "version" in str(caught.value)
        assert "delete it, and it is created again" in str(caught.value)

    @pytest.mark.parametrize(
        ("info", "message"),
        [
            ({"resources": {}}, "version: Field required"),
            ({"version": 1, "resources": {"a": {"unit": "4 MiB"}}}, "resources.a.unit: the unit '4 MiB' has a factor"),
            ({"version": 1, "resources": {"a": {"unit": "MB"}}}, "resources.a.unit: Input should be"),
        ],
    )
    def test_an_info_that_is_none(self, liquid: Liquid, info: dict[str, Any], message: str) -> None:
        liquid.info = info
        with pytest.raises(BackendError, match=message):
            load(liquid.service.url).describe()


class TestCapacity(CapacityBackendContract, BrokenCapacityContract):
    @pytest.fixture
    def backend(self, liquid: Liquid) -> CapacityBackend:
        return self.load(liquid.service.url)

    def load(self, url: str) -> CapacityBackend:
        params = {"service": "sharev2", "endpoint": url, "auth": TOKEN}
        return load_capacity("liquid", params).capacity["under-test"]

    @pytest.fixture
    def broken_backend(self) -> CapacityBackend:
        return self.load(f"http://127.0.0.1:{free_port()}")

    @pytest.fixture
    def catalog(self) -> Catalog:
        return Catalog(AZS, [ServiceDef("sharev2", "storage", DEFINITIONS)])

    def test_capacity(self, backend: CapacityBackend, catalog: Catalog) -> None:
        found = calls.report_capacity(backend, "under-test", catalog).services["sharev2"]
        here = found["capacity"][AZS[0]]
        assert (here.capacity, here.usage) == (100, 30)
        assert here.subcapacities == ({"name": "pool1", "capacity": 100, "usage": 30, "exclusion_reason": ""},)
        assert found["shares"][AZS[1]].capacity == 1000
        assert "networks" not in found

    def test_demand_is_sent_for_what_needs_it(self, liquid: Liquid, backend: CapacityBackend, catalog: Catalog) -> None:
        assert calls.needs_demand(backend, "under-test") == (("sharev2", "capacity"),)
        calls.report_capacity(backend, "under-test", catalog)
        assert liquid.demand == {"capacity": {"overcommitFactor": 0, "perAZ": {}}}
        demand = ResourceDemand(1.5, {AZS[0]: AZDemand(10, 6, 50), AZS[1]: AZDemand()})
        calls.report_capacity(backend, "under-test", catalog, {("sharev2", "capacity"): demand})
        nothing = {"usage": 0, "unusedCommitments": 0, "pendingCommitments": 0}
        some = {"usage": 10, "unusedCommitments": 6, "pendingCommitments": 50}
        assert liquid.demand == {"capacity": {"overcommitFactor": 1.5, "perAZ": {AZS[0]: some, AZS[1]: nothing}}}


@given(
    quota=st.integers(0, 10**12),
    used=st.dictionaries(st.text(max_size=3), st.integers(0, 10**9), min_size=1, max_size=5),
)
def test_shares_sum_up(quota: int, used: dict[Any, Any]) -> None:
    shares = share_out(quota, used)
    assert sum(shares.values()) == quota
    assert set(shares) == set(used)
    if quota >= sum(used.values()):
        assert all(shares[az] >= used[az] for az in used)
    assert min(shares.values()) >= 0
