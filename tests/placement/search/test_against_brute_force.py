"""Random small clouds and requests: the search finds exactly what trying everything finds, each candidate once."""

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

from limes.placement.search.candidates import search
from limes.placement.search.request import CandidatesRequest
from tests.placement.search.brute_force import BruteForce
from tests.placement.search.clouds import Node, cloud_of
from tests.placement.search.strategies import clouds, device_trees, requests, tied_requests
from tests.support.levels import few_of


def assert_same_as_trying_everything(nodes: list[Node], request: CandidatesRequest) -> None:
    found = search(request, cloud_of(*nodes))
    ours = [
        tuple(
            sorted(
                (slot.suffix, rc, provider.name)
                for slot, provider in zip(found.slots, candidate, strict=True)
                for rc in (slot.resources or [""])
            )
        )
        for candidate in found.candidates
    ]
    assert len(set(ours)) == len(ours)
    assert set(ours) == BruteForce(nodes).candidates(request)
    assert found.complete


@pytest.mark.parametrize("examples", few_of([100, 400], 1))
@pytest.mark.parametrize(
    ("nodes", "asked"), [(clouds(), requests()), (device_trees(), tied_requests())], ids=["any", "subtrees of devices"]
)
def test_the_same_as_trying_everything(
    nodes: SearchStrategy[list[Node]], asked: SearchStrategy[CandidatesRequest], examples: int
) -> None:
    """Takes some seconds, for the large requests."""
    settings(max_examples=examples, deadline=None)(given(nodes, asked)(assert_same_as_trying_everything))()
