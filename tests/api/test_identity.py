"""Whose the token of a request is."""

from tests.api.world import BERLIN, GERMANY, World


def test_a_token_for_a_project(world: World) -> None:
    found = world.get("/v1/identity", "berlin-admin")["identity"]
    project = {"id": BERLIN, "name": None, "domain": {"id": GERMANY, "name": None}}
    assert found["user"]["id"] == "u6"
    assert (found["scope"], found["roles"]) == ({"project": project}, ["admin", "member"])


def test_a_token_for_a_domain(world: World) -> None:
    found = world.get("/v1/identity", "germany-viewer")["identity"]
    assert found["scope"] == {"domain": {"id": GERMANY, "name": "germany"}}
    assert found["roles"] == ["resource_viewer"]
