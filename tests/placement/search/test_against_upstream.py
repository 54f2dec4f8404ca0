"""Random clouds and queries, put to the OpenStack project's Placement and to ours: the answers are the same."""

import json
from typing import Any

import pytest

from tests.placement import test_random_differential
from tests.placement.random_story.story import Request
from tests.placement.search.random_clouds import RandomCloud
from tests.placement.test_random_differential import Pair
from tests.support.levels import few_of

empty_upstream, pair = test_random_differential.empty_upstream, test_random_differential.pair


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
@pytest.mark.parametrize("seed", few_of(range(100, 107), 2))
def test_the_same_answers(pair: Pair, seed: int) -> None:
    cloud = RandomCloud(seed)

    def write(method: str, path: str, body: Any = None) -> None:
        request = Request(method, path, "1.39", None if body is None else json.dumps(body))
        assert "status" not in pair.compare(request)

    cloud.load(write)
    for _ in range(40):
        minor, query = cloud.candidates_query()
        pair.compare(Request("GET", f"/allocation_candidates?{query}", f"1.{minor}"))
    for _ in range(20):
        minor, query = cloud.providers_query()
        pair.compare(Request("GET", f"/resource_providers?{query}", f"1.{minor}"))
