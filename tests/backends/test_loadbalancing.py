"""The plugin `loadbalancing` against recorded shapes of Octavia's API reference (v2: lists, quotas)."""

from collections.abc import Iterator
from typing import Any

import pytest

from limes.backends import BackendError, ProjectInfo, QuotaBackend
from tests.backends.conftest import load_quota
from tests.backends.quota_cases import QuotaCases, report, usage_anywhere
from tests.support.processes import free_port
from tests.support.recorded import Asked, RecordedService

TOKEN = {"type": "token", "token": "secret-token"}
DEFAULTS = {
    "load_balancer": 10, "loadbalancer": 10, "listener": -1, "member": 50, "pool": 20, "health_monitor": 20,
    "healthmonitor": 20, "l7policy": 30, "l7rule": 40,
}  # fmt: skip
THINGS = {
    "loadbalancers": ["p1", "p1", "p2"],
    "listeners": ["p1", "p1", "p1"],
    "pools": ["p1", "p2"],
    "healthmonitors": ["p2"],
    "l7policies": [],
}
MEMBERS = {0: 3, 1: 1}


class Octavia:
    """Things in lists of one entry a page, and quotas."""

    def __init__(self) -> None:
        self.quotas = {}
        self.service = RecordedService(
            {
                ("GET", "/v2/lbaas/quotas/(.+)"): lambda request, project: (200, {"quota": self.quota(project)}),
                ("PUT", "/v2/lbaas/quotas/(.+)"): self.set_quota,
                ("GET", "/v2/lbaas/(.+)"): self.things,
            }
        )

    def quota(self, project: str) -> Any:
        return DEFAULTS | self.quotas.get(project, {})

    def set_quota(self, request: Asked, project: str) -> tuple[int, dict[str, Any]]:
        self.quotas.setdefault(project, {}).update(request.body["quota"])
        return 202, {"quota": self.quota(project)}

    def things(self, request: Asked, collection: str) -> tuple[int, dict[Any, Any]]:
        position = int(request.query.get("marker", ["0"])[0])
        self.fields = request.query["fields"]
        described = {
            "name": "lb",
            "provider": "amphora",
            "flavor_id": "f1",
            "vip_address": "10.0.0.1",
            "vip_qos_policy_id": "q",
        }
        page = [
            {"id": str(number), "project_id": project}
            | ({name: value for name, value in described.items() if name in self.fields})
            | ({"members": [{"id": str(n)} for n in range(MEMBERS[number])]} if collection == "pools" else {})
            for number, project in enumerate(THINGS[collection])
        ][position : position + 1]
        document = {collection: page, f"{collection}_links": []}
        if position + 1 < len(THINGS[collection]):
            href = f"http://elsewhere.example/v2/lbaas/{collection}?limit=1&marker={position + 1}&" + "&".join(
                f"fields={name}" for name in self.fields
            )
            document[f"{collection}_links"].append({"rel": "next", "href": href})
        return 200, document


@pytest.fixture
def octavia() -> Iterator[Octavia]:
    fake = Octavia()
    yield fake
    fake.service.close()


def load(url: str, **params: Any) -> QuotaBackend:
    params = {"endpoint": f"{url}/v2", "auth": TOKEN, "page_size": 1, **params}
    return load_quota("loadbalancing", params, name="loadbalancing").quota["loadbalancing"]


class TestLoadBalancing(QuotaCases):
    @pytest.fixture
    def backend(self, octavia: Octavia) -> QuotaBackend:
        return load(octavia.service.url)

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        return load(f"http://127.0.0.1:{free_port()}")

    def test_usage(self, backend: QuotaBackend, project: ProjectInfo, other_project: ProjectInfo) -> None:
        assert usage_anywhere(backend, project) == {
            "loadbalancers": 2, "listeners": 3, "pools": 1, "pool_members": 3, "healthmonitors": 0, "l7policies": 0,
        }  # fmt: skip
        assert usage_anywhere(backend, other_project) == {
            "loadbalancers": 1, "listeners": 0, "pools": 1, "pool_members": 1, "healthmonitors": 1, "l7policies": 0,
        }  # fmt: skip

    def test_lists_are_read_once_for_all_projects(
        self, octavia: Octavia, backend: QuotaBackend, project: ProjectInfo, other_project: ProjectInfo
    ) -> None:
        for one in (project, other_project, project):
            report(backend, one)
        assert octavia.service.count("GET", "/v2/lbaas/listeners") == 3  # pages

    def test_subresources_come_with_the_list(self, octavia: Octavia, project: ProjectInfo) -> None:
        backend = load(octavia.service.url, with_loadbalancer_subresources=True)
        found = report(backend, project)
        shown = {"name": "lb", "provider": "amphora", "flavor_id": "f1", "vip_address": "10.0.0.1"}
        assert found["loadbalancers"].per_az["any"].subresources == ({"id": "0", **shown}, {"id": "1", **shown})
        assert octavia.service.count("GET", "/v2/lbaas/loadbalancers") == 3  # pages
        assert not any(found[name].per_az["any"].subresources for name in ("listeners", "pools"))
        assert "provider" in backend.describe().resources["loadbalancers"].billed_attributes

    def test_a_page_that_is_missing_is_an_error(self, octavia: Octavia, project: ProjectInfo) -> None:
        backend = load(octavia.service.url, with_loadbalancer_subresources=True)

        def fail_later(request: Asked) -> tuple[int, Any]:
            return (
                (500, {"faultstring": "boom"})
                if "marker" in request.query
                else octavia.things(request, "loadbalancers")
            )

        octavia.service.routes = {("GET", "/v2/lbaas/loadbalancers"): fail_later, **octavia.service.routes}
        with pytest.raises(BackendError, match="GET /lbaas/loadbalancers: Octavia answered with 500: boom"):
            report(backend, project)

    def test_a_pool_without_members_in_it_is_an_error(
        self, octavia: Octavia, backend: QuotaBackend, project: ProjectInfo
    ) -> None:
        answer = 200, {"pools": [{"id": "1", "project_id": "p1"}]}
        octavia.service.routes = {("GET", "/v2/lbaas/pools"): lambda request: answer, **octavia.service.routes}
        with pytest.raises(BackendError, match="GET /lbaas/pools: an entry lacks one of project_id, members"):
            report(backend, project)
