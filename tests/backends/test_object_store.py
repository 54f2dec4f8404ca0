"""The plugin `object-store` against a real Swift."""

from typing import Any

import pytest
import requests
from keystoneauth1.session import Session
from limes_plugins.openstack.client import ServiceClient

from limes.backends import UNLIMITED, BackendError, DomainInfo, ProjectInfo, QuotaBackend
from tests.backends.conftest import load_quota
from tests.backends.quota_cases import QuotaCasesOfNewProjects, project_of, report, session_of, set_quota
from tests.support.keystone import RealKeystone
from tests.support.processes import free_port
from tests.support.swift import RealSwift

pytestmark = [pytest.mark.real, pytest.mark.long]

FACTORS = {"gold": 3, "silver": 1.5}


@pytest.fixture(scope="module")
def session(keystone: RealKeystone, swift: RealSwift) -> Session:
    return session_of(keystone)


@pytest.fixture(scope="module")
def berlin(keystone: RealKeystone) -> ProjectInfo:
    return project_of(keystone, "berlin")


class Account:
    """A project's account as a member of it sees it."""

    def __init__(self, swift: RealSwift, keystone: RealKeystone) -> None:
        self.url = f"{swift.url}/v1/AUTH_{keystone.ids.projects['berlin']}"
        self.token = keystone.project_token("berlin-member", "berlin")

    def put(self, path: str, data: bytes = b"", **headers: str) -> int:
        headers = {"X-Auth-Token": self.token} | {
            f"X-{name.replace('_', '-')}": value for name, value in headers.items()
        }
        answer = requests.put(f"{self.url}/{path}", data=data, headers=headers, timeout=30)
        if answer.ok and "/" in path:  # else the account's totals would follow only when Swift's updater comes along
            self.put(path.split("/")[0])
        return answer.status_code


@pytest.fixture(scope="module")
def account(swift: RealSwift, keystone: RealKeystone) -> Account:
    return Account(swift, keystone)


def containers(found: Any) -> list[Any]:
    return list(found["containers"].per_az["any"].subresources)


def load(session: None, **params: Any) -> QuotaBackend:
    params = {"physical_factors": FACTORS, **params}
    return load_quota("object-store", params, name="object-store", session_factory=lambda: session).quota[
        "object-store"
    ]


class TestSwift(QuotaCasesOfNewProjects):
    @pytest.fixture
    def backend(self, session: Session) -> QuotaBackend:
        return load(session)

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        url = f"http://127.0.0.1:{free_port()}/v1"
        return load(None, endpoint=url, auth={"type": "token", "token": "t"})

    def test_what_is_stored_is_usage(self, backend: QuotaBackend, account: Account, berlin: ProjectInfo) -> None:
        assert account.put("plain") == 201
        assert account.put("cheap", Storage_Policy="silver") == 201
        assert account.put("plain/one", b"x" * 1000) == 201
        assert account.put("cheap/two", b"x" * 100) == 201
        found = report(backend, berlin)
        capacity = found["capacity"].per_az["any"]
        assert (capacity.usage, capacity.physical_usage) == (1100, 3150)
        assert found["containers"].per_az["any"].usage == 2

    def test_containers_are_subresources_if_wanted(
        self, session: Session, swift: RealSwift, account: Account, berlin: ProjectInfo, keystone: RealKeystone
    ) -> None:
        for name in ("plain", "zebra", "zebra two"):
            account.put(name)
        account.put("plain/one", b"x" * 1000)
        account.put("zebra two/one", b"x" * 10)
        account.put("zebra two/two", b"x" * 10)
        backend = load(session, with_container_subresources=True)
        shown = {one["name"]: (one["objects"], one["size_bytes"]) for one in containers(report(backend, berlin))}
        assert shown["plain"] == (1, 1000)
        assert (shown["zebra"], shown["zebra two"]) == ((0, 0), (2, 20))
        assert len(shown) == report(backend, berlin)["containers"].per_az["any"].usage
        assert containers(report(load(session), berlin)) == []
        vienna = ProjectInfo(keystone.ids.projects["vienna"], "vienna", "x", DomainInfo("x", "south"))
        assert containers(report(backend, vienna)) == []

    def test_containers_are_listed_page_by_page(
        self, session: Session, account: Account, berlin: ProjectInfo, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("plain", "zebra", "zebra two"):
            account.put(name)
        backend = load(session, with_container_subresources=True)
        everything = containers(report(backend, berlin))
        request, asked = ServiceClient.request, []

        def ask_for_two(client: ServiceClient, method: str, path: str, **options: Any) -> Any:
            if "params" in options:
                options["params"] = {**options["params"], "limit": 2}
                asked.append(options["params"]["marker"])
            return request(client, method, path, **options)

        monkeypatch.setattr(ServiceClient, "request", ask_for_two)
        assert containers(report(backend, berlin)) == everything
        assert len(asked) == -(-len(everything) // 2) + 1

    def test_units_round_usage_up_and_quota_down(self, session: Session, account: Account, berlin: ProjectInfo) -> None:
        account.put("plain")
        account.put("plain/one", b"x" * 1000)
        backend = load(session, unit="KiB", physical_factors={})
        set_quota(backend, berlin, {"capacity": 10})
        by_bytes = report(load(session), berlin)["capacity"]
        assert by_bytes.quota == 10 * 1024
        set_quota(load(session), berlin, {"capacity": 10 * 1024 + 500})
        capacity = report(backend, berlin)["capacity"]
        assert (capacity.quota, capacity.per_az["any"].physical_usage) == (10, None)
        assert capacity.per_az["any"].usage == -(-by_bytes.per_az["any"].usage // 1024)

    def test_quota_is_enforced(self, backend: QuotaBackend, account: Account, berlin: ProjectInfo) -> None:
        account.put("plain")
        used = report(backend, berlin)["capacity"].per_az["any"].usage
        set_quota(backend, berlin, {"capacity": used + 10})
        assert account.put("plain/little", b"x" * 10) == 201
        assert account.put("plain/much", b"x" * 11) == 413
        set_quota(backend, berlin, {"capacity": 10**6})
        assert account.put("plain/much", b"x" * 11) == 201

    @pytest.mark.parametrize("number", [2**63 - 1, 2**64 - 1])
    def test_a_quota_that_means_unlimited(self, session: Session, berlin: ProjectInfo, number: int) -> None:
        set_quota(load(session), berlin, {"capacity": number})
        for unit in ("B", "GiB"):
            assert report(load(session, unit=unit), berlin)["capacity"].quota is UNLIMITED
        set_quota(load(session), berlin, {"capacity": 2**63 - 2})
        assert report(load(session), berlin)["capacity"].quota == 2**63 - 2

    def test_no_quota_was_ever_set(self, backend: QuotaBackend, keystone: RealKeystone, swift: RealSwift) -> None:
        vienna = ProjectInfo(keystone.ids.projects["vienna"], "vienna", "x", DomainInfo("x", "south"))
        assert report(backend, vienna)["capacity"].quota is UNLIMITED

    def test_a_policy_without_a_factor(self, session: Session, account: Account, berlin: ProjectInfo) -> None:
        account.put("cheap", Storage_Policy="silver")
        account.put("cheap/two", b"x" * 100)
        with pytest.raises(BackendError, match="physical_factors has no storage policy 'silver'"):
            report(load(session, physical_factors={"gold": 3}), berlin)

    def test_a_user_without_the_role(self, keystone: RealKeystone, swift: RealSwift, berlin: ProjectInfo) -> None:
        session = session_of(keystone, "munich-member", "munich")
        with pytest.raises(BackendError, match="Swift refuses the user of Limes with 403"):
            report(load(session), berlin)
