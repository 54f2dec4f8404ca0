"""Answers that differ from upstream's on purpose, as docs/placement-api.md lists them: what each of the two says."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from limes.placement.search.render import dump
from tests.placement.world import World, uuid_of
from tests.support.upstream_placement import UpstreamPlacement

pytestmark = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
ROOTS = {name: uuid_of(f"diff{name}") for name in ("a", "b", "c")}
MINE = uuid_of("diffs")
"""The aggregate of these three, whatever else upstream has."""


class Both:
    """The same request to upstream's Placement and to ours: both statuses, and both documents."""

    def __init__(self, world: World, url: str, session: requests.Session) -> None:
        self._world = world
        self._url = url
        self._session = session

    def call(self, method: str, path: str, body: Any = None, **more: str) -> tuple[tuple[int, int], tuple[Any, Any]]:
        """`body` is a document, or bytes; `more` are headers, with underscores for dashes."""
        data = body if isinstance(body, bytes | None) else dump(body)
        more = {"x_auth_token": "admin", "x_roles": "admin,service", "content_type": "application/json"} | more
        headers = {name.replace("_", "-"): value for name, value in more.items()}
        headers["openstack-api-version"] = "placement 1.39"
        theirs = self._session.request(method, self._url + path, headers=headers, data=data, timeout=100)
        ours = self._world.call(method, path, data, **more)
        statuses = theirs.status_code, ours.status_code
        return statuses, (theirs.json() if theirs.content else None, ours.json if ours.content else None)

    def ok(self, method: str, path: str, body: Any = None) -> None:
        """A request that both accept."""
        statuses, documents = self.call(method, path, body)
        assert max(statuses) < 300, documents


@pytest.fixture
def both(world: World, upstream_placement: UpstreamPlacement) -> Iterator[Both]:
    """With three hosts of 8 VCPU; `b` is a compute node, `c` in a further aggregate."""
    with requests.Session() as session:
        session.trust_env = False
        both = Both(world, upstream_placement.url, session)
        for name, uuid in ROOTS.items():
            provider = f"/resource_providers/{uuid}"
            both.ok("POST", "/resource_providers", {"name": f"diff{name}", "uuid": uuid})
            stock = {"VCPU": {"total": 8}}
            both.ok("PUT", f"{provider}/inventories", {"resource_provider_generation": 0, "inventories": stock})
            aggregates = [MINE, uuid] if name == "c" else [MINE]
            both.ok("PUT", f"{provider}/aggregates", {"resource_provider_generation": 1, "aggregates": aggregates})
            traits = ["COMPUTE_NODE"] if name == "b" else []
            both.ok("PUT", f"{provider}/traits", {"resource_provider_generation": 2, "traits": traits})
        yield both
        for uuid in ROOTS.values():  # other tests use the same upstream server
            both.ok("DELETE", f"/resource_providers/{uuid}")


def test_ratios(both: Both) -> None:
    """Upstream takes what rounds to a capacity of 0, and fails on an infinite capacity."""
    path = f"/resource_providers/{ROOTS['a']}/inventories"
    for ratio, expected in {
        b"-1": (400, 400),
        b"Infinity": (400, 400),
        b"-Infinity": (500, 400),
        b"NaN": (500, 400),
        b"-0.1": (200, 400),
    }.items():
        body = b'{"resource_provider_generation": 2, "inventories": {"VCPU": {"total": 8, "allocation_ratio": %b}}}'
        assert both.call("PUT", path, body % ratio)[0] == expected, ratio


def test_trees_of_groups_without_resources(both: Both) -> None:
    """Upstream looks only whether the tree exists, if the group requires a trait or an aggregate."""
    query = "/allocation_candidates?resources1=VCPU:1&same_subtree=1,2&group_policy=none&"
    query += f"member_of1={MINE}&"
    member = f"member_of2={ROOTS['c']}"
    for wish, theirs, ours in (
        ("required2=COMPUTE_NODE", "b", "b"),
        (f"required2=COMPUTE_NODE&in_tree2={ROOTS['b']}", "b", "b"),
        (f"required2=COMPUTE_NODE&in_tree2={ROOTS['a']}", "b", ""),
        (f"required2=COMPUTE_NODE&in_tree2={uuid_of('none')}", "", ""),
        (f"{member}&in_tree2={ROOTS['c']}", "c", "c"),
        (f"{member}&in_tree2={ROOTS['a']}", "c", ""),
        (f"in_tree2={ROOTS['a']}", "", "a"),
        (f"required2=!COMPUTE_NODE&in_tree2={ROOTS['a']}", "", "a"),
    ):
        _, documents = both.call("GET", query + wish)
        found = [set(document["provider_summaries"]) for document in documents]
        assert found == [{ROOTS[name] for name in names} for names in (theirs, ours)], wish


def test_consumer_types(both: Both) -> None:
    """Upstream's pattern has no end after `all`."""
    for name, expected in {"all": (200, 200), "allx": (200, 400), "xall": (400, 400), "unknownx": (400, 400)}.items():
        assert both.call("GET", f"/usages?project_id=p&consumer_type={name}")[0] == expected, name


def test_the_domain_of_noauth(both: Both) -> None:
    """Ours believes the token, the roles, `X-Project-Id` and the system scope, and knows no domains without Keystone."""
    assert both.call("GET", "/usages?project_id=p", x_domain_id="d")[0] == (403, 200)
    assert both.call("GET", "/usages?project_id=p", x_domain_id="d", x_project_id="p")[0] == (403, 200)
    assert both.call("GET", "/usages?project_id=p", openstack_system_scope="all")[0] == (403, 403)
