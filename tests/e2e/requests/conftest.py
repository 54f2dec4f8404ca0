"""Requests for more quota, in a cloud of their own."""

from collections.abc import Iterator

import pytest

from tests.e2e.cloud import ACME, FEW_PROJECTS, DashboardCloud, NewCloud
from tests.e2e.requests.steps import API

SIZES = {
    "small": {"description": "to try things out", "quotas": {"compute": {"cores": 30, "ram": "60 GiB"}}},
    "medium": {"quotas": {"compute": {"cores": 64, "ram": "80 GiB"}}},
}


@pytest.fixture(scope="package")
def cloud(new_cloud: NewCloud) -> Iterator[DashboardCloud]:
    """This folder's own."""
    with new_cloud(**FEW_PROJECTS, quota_sets=SIZES) as made:
        yield made.start()


@pytest.fixture(autouse=True)
def as_at_first(cloud: DashboardCloud) -> None:
    """No request is open or proposed, and shop has 40 of the domain's 200 cores."""
    query = "status=open&status=proposed&limit=1000"
    for open_request in cloud.request("GET", f"/v1/quota-requests?{query}").json()["quota_requests"]:
        place = f"/projects/{open_request['project']['id']}" if "project" in open_request else ""
        path = f"/v1/domains/{open_request['domain']['id']}{place}/quota-requests/{open_request['id']}/reject"
        assert cloud.request("POST", path, json={"reason": "the next test begins"}).status_code in (200, 409)
    cloud.put_quota(API, compute={"cores": 40})
    cloud.put_quota(f"/v1/domains/{ACME}", compute={"cores": 200})
