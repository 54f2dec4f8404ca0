"""Random clouds and queries, put to the OpenStack project's Placement and to ours: the answers are the same."""

from collections.abc import Callable
from typing import Any

import pytest
import requests

from tests.placement.search.comparison import check_candidates
from tests.placement.search.random_clouds import SHARES, RandomCloud
from tests.support.levels import few_of
from tests.support.upstream_placement import PlacementFactory, UpstreamPlacement


def http_client(url: str) -> Callable[..., Any]:
    session = requests.Session()
    session.headers.update({"x-auth-token": "admin", "accept": "application/json"})

    def client(method: str, path: str, body: Any, minor: int) -> tuple[int, Any]:
        headers = {"openstack-api-version": f"placement 1.{minor}"}
        answer = session.request(method, url + path, json=body, headers=headers, timeout=30)
        return answer.status_code, answer.json() if answer.content else None

    return client


def without_generations(document: Any) -> Any:
    for one in document.get("resource_providers", ()):
        del one["generation"]
    return document


@pytest.fixture(scope="module")
def empty_upstream(upstream_placement_factory: PlacementFactory) -> UpstreamPlacement:
    """A Placement of its own: in the session's, other tests have left providers behind, which would be answers, too."""
    return upstream_placement_factory()


@pytest.mark.parametrize("seed", few_of(range(100, 107), 2))
def test_the_same_answers(seed: int, empty_upstream: UpstreamPlacement, placement_url: str) -> None:
    cloud = RandomCloud(seed)
    sharing = {one.uuid for one in cloud.providers if SHARES in one.traits}
    upstream, ours = http_client(empty_upstream.url), http_client(placement_url)
    cloud.load(ours)
    try:
        cloud.load(upstream)
        for _ in range(40):
            minor, query = cloud.candidates_query()
            path = f"/allocation_candidates?{query}"
            there, here = upstream("GET", path, None, minor), ours("GET", path, None, minor)
            assert there[0] == here[0], (minor, query, there, here)
            if there[0] == 200:
                check_candidates(sharing, query, there[1], here[1])
        for _ in range(20):
            minor, query = cloud.providers_query()
            path = f"/resource_providers?{query}"
            there, here = upstream("GET", path, None, minor), ours("GET", path, None, minor)
            assert there[0] == here[0], (minor, query, there, here)
            assert without_generations(there[1]) == without_generations(here[1]) or there[0] != 200, (minor, query)
    finally:
        cloud.wipe(upstream)
        cloud.wipe(ours)
