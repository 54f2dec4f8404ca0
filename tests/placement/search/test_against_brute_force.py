"""Random small clouds and requests: the search finds exactly what trying everything finds, each candidate once."""

from hypothesis import given, settings

from limes.placement.search.candidates import search
from limes.placement.search.request import CandidatesRequest
from tests.placement.search.brute_force import BruteForce
from tests.placement.search.clouds import Node, cloud_of
from tests.placement.search.strategies import clouds, device_trees, requests, tied_requests


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


@settings(max_examples=400, deadline=None)
@given(clouds(), requests())
def test_the_same_as_trying_everything(nodes: list[Node], request: CandidatesRequest) -> None:
    assert_same_as_trying_everything(nodes, request)


@settings(max_examples=400, deadline=None)
@given(device_trees(), tied_requests())
def test_subtrees_of_devices_the_same_as_trying_everything(nodes: list[Node], request: CandidatesRequest) -> None:
    assert_same_as_trying_everything(nodes, request)
