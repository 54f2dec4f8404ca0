"""Random requests over all routes and microversions, put to upstream's server and to ours: the answers are the same.

`LIMES_DIFFERENTIAL_SEEDS=500` makes it 500 stories instead of a few, `LIMES_DIFFERENTIAL_FIRST` is the first seed.
"""

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from limes.placement.transfer.contents import parents_first
from tests.placement.random_story.story import RandomStory, Request
from tests.placement.search.comparison import check_candidates
from tests.placement.test_differential import comparable, differences_of, is_deliberate
from tests.placement.world import World
from tests.support.upstream_placement import PlacementFactory, UpstreamPlacement

FIRST = int(os.environ.get("LIMES_DIFFERENTIAL_FIRST", "1"))
SEEDS = range(FIRST, FIRST + int(os.environ.get("LIMES_DIFFERENTIAL_SEEDS", "4")))
STEPS = 250
STORIES = [
    pytest.param("postgresql", seed, marks=[pytest.mark.postgresql, *([pytest.mark.long] if number else [])])
    if seed % 2
    else pytest.param("sqlite", seed, marks=[pytest.mark.long] if number > 1 else [])
    for number, seed in enumerate(SEEDS)
]


def headers_of(request: Request) -> dict[str, str | bytes]:
    headers = {
        "x-auth-token": "admin",
        "x-roles": "admin,service",
        "openstack-api-version": f"placement {request.version}",
    }
    if request.data is not None:
        headers["content-type"] = "application/json"
    return headers | request.headers


UNKNOWN_NAME = re.compile(r"No such (resource class|trait)")


def is_expected(request: Request, different: dict[str, Any], texts: str, sharing: Callable[[], set[str]]) -> bool:
    """Whether the difference is one of those that docs/placement-api.md and placement-index.md name."""
    if is_deliberate(request.method, different) or (different.get("status") or [0])[0] == 500:
        return True
    if different.get("status", (0, 0))[1] == 400 and "The reserved value is greater than total" in texts:
        return True
    if request.method == "GET" and different.get("status") == (200, 400) and UNKNOWN_NAME.search(texts):
        return True
    if set(different) <= {"document", "last-modified"} and request.path.startswith("/allocation_candidates"):
        query = request.path.partition("?")[2]
        if "limit=" in query:
            return True
        try:
            check_candidates(sharing(), query, *different["document"])
        except AssertionError:
            return False
        return True
    return False


class Pair:
    """Upstream's server and ours."""

    def __init__(self, world: World, upstream: UpstreamPlacement, session: requests.Session) -> None:
        self.world = world
        self.upstream = upstream
        self.session = session

    def both(self, request: Request) -> tuple[dict[str, Any], dict[str, Any], str]:
        """What upstream answers, what ours answers, and both texts."""
        headers = headers_of(request)
        theirs = self.session.request(
            request.method, self.upstream.url + request.path, headers=headers, data=request.data, timeout=30
        )
        data = None if request.data is None else request.data.encode()
        more = {name.replace("-", "_"): value for name, value in headers.items() if name != "openstack-api-version"}
        more.pop("x_auth_token")
        ours = self.world.call(request.method, request.path, data, version=request.version, **more)
        return (
            comparable(theirs.status_code, theirs.headers, theirs.text, self.upstream.url),
            comparable(ours.status_code, ours.headers, ours.text, "http://placement.example"),
            f"{theirs.text[-400:]}\n  {ours.text[-400:]}",
        )

    def compare(self, request: Request) -> dict[str, Any]:
        """Where the answers differ. Fails if that is not expected."""
        theirs, ours, texts = self.both(request)
        different = differences_of(theirs, ours)
        if not is_expected(request, different, texts, self.sharing):
            where = "; ".join(differing(theirs, ours))
            pytest.fail(f"{request}\n  {where}\n  {texts}", pytrace=False)
        return different

    def sharing(self) -> set[str]:
        """The UUIDs of the providers that share."""
        found = self.world.ok("GET", "/resource_providers?required=MISC_SHARES_VIA_AGGREGATE")["resource_providers"]
        return {one["uuid"] for one in found}

    def upstream_document(self, method: str, path: str) -> Any:
        """What upstream answers at the newest microversion."""
        headers = headers_of(Request(method, path, "1.39"))
        answer = self.session.request(method, self.upstream.url + path, headers=headers, timeout=30)
        return answer.json() if answer.content and answer.ok else None

    def look(self, path: str) -> Any:
        result = self.world.call("GET", path)
        return result.json if result.status_code == 200 else None


@pytest.fixture(scope="module")
def empty_upstream(upstream_placement_factory: PlacementFactory) -> UpstreamPlacement:
    """A Placement of its own: in the session's, other tests have left providers behind, which would be answers, too."""
    return upstream_placement_factory()


@pytest.fixture
def pair(world: World, empty_upstream: UpstreamPlacement) -> Iterator[Pair]:
    with requests.Session() as session:
        session.trust_env = False
        pair = Pair(world, empty_upstream, session)
        yield pair
        wipe(pair.upstream_document)


def wipe(call: Callable[[str, str], Any]) -> None:
    """Deletes everything. `call(method, path)` answers the document, or None."""
    listed = call("GET", "/resource_providers")["resource_providers"]
    for one in listed:
        for consumer in call("GET", f"/resource_providers/{one['uuid']}/allocations")["allocations"]:
            call("DELETE", f"/allocations/{consumer}")
    for one in reversed(parents_first(listed)):
        call("DELETE", f"/resource_providers/{one['uuid']}")
    classes = [one["name"] for one in call("GET", "/resource_classes")["resource_classes"]]
    traits = call("GET", "/traits?name=startswith:CUSTOM_")["traits"]
    for name in classes:
        if name.startswith("CUSTOM_"):
            call("DELETE", f"/resource_classes/{name}")
    for name in traits:
        call("DELETE", f"/traits/{name}")


@pytest.mark.sql
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("databases", "seed"), STORIES, indirect=["databases"])
def test_the_same_answers(pair: Pair, seed: int) -> None:
    story = RandomStory(seed, pair.look)
    for _ in range(STEPS):
        request = story.next()
        different = pair.compare(request)
        if "status" in different and request.method != "GET":
            break  # from now on they have different things to tell
        if request.method in ("PUT", "POST"):
            story.forget_idle(request)


def differing(theirs: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Where two documents differ, in words."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs.keys() | ours.keys():
            yield from differing(theirs.get(key), ours.get(key), f"{path}/{key}")
    elif isinstance(theirs, list) and isinstance(ours, list):
        only_theirs = [one for one in theirs if one not in ours]
        only_ours = [one for one in ours if one not in theirs]
        if only_theirs or only_ours:
            yield f"{path}: only theirs {only_theirs}, only ours {only_ours}"
    elif theirs != ours:
        yield f"{path}: theirs {theirs}, ours {ours}"
