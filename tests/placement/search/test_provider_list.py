"""What a list of providers looks at."""

from collections.abc import Iterator

import pytest

from limes.placement.search.model import Cloud, Provider
from limes.placement.search.pieces import IdMap
from limes.placement.search.provider_list import matching_providers, parse_providers
from limes.placement.search.values import parse_pairs
from tests.placement.search.clouds import cloud_of, identity, node


class Unlistable(IdMap[Provider]):
    """All providers, which nobody may go through."""

    def values(self) -> Iterator[Provider]:
        raise AssertionError("somebody looks at all providers")


@pytest.fixture
def cloud() -> Cloud:
    cloud = cloud_of(
        node("a", VCPU=1, traits=["HW_SSE"]),
        node("b", VCPU=1),
        node("b2", "b", VCPU=4, traits=["HW_SSE"], aggregates=["agg"]),
        node("b1", "b", VCPU=2, aggregates=["agg"]),
        node("b3", "b2", VCPU=8),
    )
    cloud.by_id = Unlistable().replace({key: cloud.by_id[key] for key in cloud.by_id})
    return cloud


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["b", "b2", "b1", "b3"]),
        ("&resources=VCPU:2", ["b2", "b1", "b3"]),
        ("&required=HW_SSE", ["b2"]),
        (f"&member_of={identity('agg')}", ["b2", "b1"]),
        ("&name=b3", ["b3"]),
        (f"&uuid={identity('b1')}", ["b1"]),
        ("&name=a", []),
        (f"&uuid={identity('a')}", []),
    ],
)
@pytest.mark.parametrize("member", ["b", "b3"])
def test_only_the_tree(cloud: Cloud, query: str, names: list[str], member: str) -> None:
    pairs = parse_pairs(f"in_tree={identity(member)}{query}")
    request = parse_providers(pairs, 39, cloud)
    assert [provider.name for provider in matching_providers(request, cloud)] == names


def test_a_tree_that_does_not_exist(cloud: Cloud) -> None:
    request = parse_providers(parse_pairs(f"in_tree={identity('x')}"), 39, cloud)
    assert matching_providers(request, cloud) == []


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (f"member_of={identity('agg')}", ["b2", "b1"]),
        (f"member_of=in:{identity('agg')},{identity('none')}", ["b2", "b1"]),
        (f"member_of={identity('agg')}&member_of={identity('none')}", []),
        (f"member_of={identity('agg')}&required=HW_SSE", ["b2"]),
        (f"member_of={identity('agg')}&name=b1", ["b1"]),
        (f"member_of={identity('none')}", []),
    ],
)
def test_only_trees_with_members(cloud: Cloud, query: str, names: list[str]) -> None:
    request = parse_providers(parse_pairs(query), 39, cloud)
    assert [provider.name for provider in matching_providers(request, cloud)] == names
