"""The plugin `placement` against the OpenStack project's Placement."""

from typing import Any

import pytest

from limes.backends import BackendError, ProjectInfo, calls
from limes.catalog.catalog import Catalog
from tests.backends.conftest import AZS, load_quota
from tests.backends.placement_cases import CapacityCases, Hosts, ServiceCases, make_projects, params
from tests.backends.placement_cloud import PlacementCloud
from tests.support.upstream_placement import UpstreamPlacement


@pytest.fixture(scope="module")
def cloud(upstream_placement: UpstreamPlacement) -> PlacementCloud:
    return PlacementCloud(upstream_placement.url)


@pytest.fixture(scope="module")
def projects(cloud: PlacementCloud) -> tuple[Any, Any]:
    return make_projects(cloud)


@pytest.fixture(scope="module")
def hosts(cloud: PlacementCloud) -> Hosts:
    return Hosts(cloud)


class TestService(ServiceCases):
    def test_upstream_has_no_quota_extension(self, cloud: PlacementCloud, project: ProjectInfo) -> None:
        backend = load_quota("placement", params(cloud.url, quota={"store": "placement"})).quota["compute"]
        for call in (
            lambda: calls.report_usage(backend, backend.describe(), project, Catalog(AZS, [])),
            lambda: calls.set_quota(backend, backend.describe(), project, {"cores": 1}),
        ):
            with pytest.raises(BackendError, match=r"only Limes.s own Placement has the quota extension"):
                call()


class TestCapacity(CapacityCases):
    """All of the cases."""
