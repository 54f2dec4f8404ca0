"""The plugin `dns` against recorded shapes of Designate's API reference (v2: quotas, zones, recordsets)."""

from collections.abc import Collection, Iterator
from typing import Any

import pytest

from limes.backends import BackendError, ProjectInfo, QuotaBackend
from tests.backends.conftest import load_quota
from tests.backends.quota_cases import QuotaCases, quotas, report, set_quota, usage_anywhere
from tests.support.processes import free_port
from tests.support.recorded import Asked, RecordedService

TOKEN = {"type": "token", "token": "secret-token"}
DETAILS = {"status": "ACTIVE", "type": "PRIMARY", "serial": 1795293396, "email": "hostmaster@example.com"}
ZONES = {"z1": ("p1", 5), "z2": ("p1", 12), "z3": ("p2", 2)}


class Designate:
    """Three zones on two pages, and quotas."""

    def __init__(self) -> None:
        self.quotas = {}
        self.service = RecordedService(
            {
                ("GET", "/v2/quotas/(.+)"): lambda request, project: (200, self.quota(project)),
                ("PATCH", "/v2/quotas/(.+)"): self.set_quota,
                ("GET", "/v2/zones"): self.zones,
                ("GET", "/v2/zones/(.+)/recordsets"): self.recordsets,
            }
        )

    def quota(self, project: str) -> Any:
        defaults = {"api_export_size": 1000, "recordset_records": 20, "zone_records": 500, "zone_recordsets": 500}
        return defaults | {"zones": 10} | self.quotas.get(project, {})

    def set_quota(self, request: Asked, project: str) -> tuple[int, Any]:
        assert request.headers["X-Auth-All-Projects"] == "true"
        self.quotas.setdefault(project, {}).update(request.body)
        return 200, self.quota(project)

    def zones(self, request: Asked) -> tuple[int, dict[str, Collection[Collection[str]]]]:
        assert request.headers["X-Auth-All-Projects"] == "true"
        ids = sorted(ZONES)
        begin = ids.index(request.query["marker"][0]) + 1 if "marker" in request.query else 0
        page = ids[begin : begin + int(request.query["limit"][0])]
        document = {
            "zones": [{"id": one, "name": f"{one}.example.", "project_id": ZONES[one][0], **DETAILS} for one in page],
            "links": {"self": "https://elsewhere.example/v2/zones"},
            "metadata": {"total_count": 3},
        }
        if page and page[-1] != ids[-1]:
            document["links"]["next"] = f"https://elsewhere.example/v2/zones?limit=2&marker={page[-1]}"
        return 200, document

    def recordsets(self, request: Asked, zone: str) -> tuple[Any, ...]:
        if zone not in ZONES:
            return 404, {"code": 404, "type": "zone_not_found", "message": "Could not find Zone"}
        return 200, {"recordsets": [{}], "links": {}, "metadata": {"total_count": ZONES[zone][1]}}


@pytest.fixture
def designate() -> Iterator[Designate]:
    fake = Designate()
    yield fake
    fake.service.close()


def load(url: str, **params: Any) -> QuotaBackend:
    params = {"endpoint": f"{url}/v2", "auth": TOKEN, "page_size": 2, **params}
    return load_quota("dns", params, name="dns").quota["dns"]


class TestDns(QuotaCases):
    @pytest.fixture
    def backend(self, designate: Designate) -> QuotaBackend:
        return load(designate.service.url)

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        return load(f"http://127.0.0.1:{free_port()}")

    def test_usage(
        self, backend: QuotaBackend, project: ProjectInfo, other_project: ProjectInfo, new_project: ProjectInfo
    ) -> None:
        for one, zones, recordsets in ((project, 2, 12), (other_project, 1, 2), (new_project, 0, 0)):
            assert usage_anywhere(backend, one) == {"zones": zones, "recordsets": recordsets}
            assert quotas(backend, one) == {"zones": 10, "recordsets": 500}

    def test_zones_are_listed_once_for_all_projects(
        self, designate: Designate, backend: QuotaBackend, project: ProjectInfo, other_project: ProjectInfo
    ) -> None:
        for one in (project, other_project, project):
            report(backend, one)
        assert designate.service.count("GET", "/v2/zones") == 2  # pages

    def test_zones_as_subresources(self, designate: Designate, project: ProjectInfo) -> None:
        backend = load(designate.service.url, with_zone_subresources=True)
        assert report(backend, project)["zones"].per_az["any"].subresources == (
            {"id": "z1", "name": "z1.example.", "status": "ACTIVE", "type": "PRIMARY", "recordsets": 5},
            {"id": "z2", "name": "z2.example.", "status": "ACTIVE", "type": "PRIMARY", "recordsets": 12},
        )
        assert backend.describe().resources["zones"].billed_attributes == ("type",)

    def test_without_the_setting_there_are_none(self, backend: QuotaBackend, project: ProjectInfo) -> None:
        assert report(backend, project)["zones"].per_az["any"].subresources == ()
        assert backend.describe().resources["zones"].billed_attributes == ()

    def test_without_age_they_are_listed_for_each(self, designate: Designate, project: ProjectInfo) -> None:
        backend = load(designate.service.url, max_age=0)
        for _ in range(2):
            report(backend, project)
        assert designate.service.count("GET", "/v2/zones") == 4

    def test_records_follow_recordsets(self, designate: Designate, backend: QuotaBackend, project: ProjectInfo) -> None:
        set_quota(backend, project, {"zones": 3, "recordsets": 40})
        assert designate.quotas["p1"] == {"zones": 3, "zone_recordsets": 40, "zone_records": 800}

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ((403, {"code": 403, "message": "Forbidden"}), "Designate refuses the user of Limes with 403: Forbidden"),
            ((500, {"code": 500, "message": "boom"}), "Designate answered with 500: boom"),
            ((200, b"<html>"), "Designate's answer is not JSON"),
            ((200, {"zones": 10}), "the quota of zone_recordsets is None"),
            ((200, {"zones": "10", "zone_recordsets": 1}), "the quota of zones is '10'"),
            (
                (404, {"code": 404}),
                r"GET /quotas/\{project_id\}: Designate answered with 404 \(was the project deleted",
            ),
        ],
    )
    def test_odd_answers(
        self, designate: Designate, backend: QuotaBackend, project: ProjectInfo, answer: tuple[Any, ...], message: str
    ) -> None:
        designate.service.routes[("GET", "/v2/quotas/(.+)")] = lambda request, project: answer
        with pytest.raises(BackendError, match=message) as caught:
            report(backend, project)
        assert "secret-token" not in str(caught.value)

    def test_a_list_that_turns_in_circles(
        self, designate: Designate, backend: QuotaBackend, project: ProjectInfo
    ) -> None:
        link = {"next": f"{designate.service.url}/v2/zones?limit=2"}
        zones = [{"id": "z1", "project_id": "p1"}]
        designate.service.routes[("GET", "/v2/zones")] = lambda request: (200, {"zones": zones, "links": link})
        with pytest.raises(BackendError, match="names the same page again"):
            report(backend, project)
