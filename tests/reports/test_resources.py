"""Services and resources without figures, and their names on each level."""

from collections.abc import Callable

from limes.catalog.catalog import BehaviorRule
from tests.api.world import BERLIN, GERMANY, World
from tests.commitments.commitments import BEHAVIORS

NAMED = BehaviorRule(resource="compute/cores", annotations={"display_name": "Virtual cores", "note": "x"})


def test_what_there_is(make: Callable[..., World]) -> None:
    found = make(behaviors=[*BEHAVIORS, NAMED]).get("/v1/resources", "berlin-member")
    assert found["availability_zones"] == ["az-one", "az-two"]
    assert [(one["type"], one["area"]) for one in found["services"]] == [("compute", "compute"), ("volume", "storage")]
    assert found["services"][0]["resources"] == [
        {
            "name": "cores",
            "display_name": "Virtual cores",
            "quota_distribution_model": "hierarchical",
            "annotations": {"display_name": "Virtual cores", "note": "x"},
            "commitment_config": {"durations": ["1 hour", "1 year"], "availability_zones": ["az-one", "az-two"]},
        },
        {"name": "gpus", "contained_in": "cores"},
        {
            "name": "ram",
            "unit": "MiB",
            "quota_distribution_model": "hierarchical",
            "commitment_config": {"durations": ["1 year", "2 years"], "availability_zones": ["any"]},
        },
    ]


def test_a_selection(world: World) -> None:
    (service,) = world.get("/v1/resources?service=volume")["services"]
    assert [one["name"] for one in service["resources"]] == ["capacity"]


def test_one_name_on_each_level(make: Callable[..., World]) -> None:
    world = make(behaviors=[NAMED])
    domain = f"/v1/domains/{GERMANY}"
    levels = {"cluster": "/v1/clusters/current", "domain": domain, "project": f"{domain}/projects/{BERLIN}"}
    for level, path in levels.items():
        (service,) = world.get(f"{path}?service=compute&resource=cores", "cloud-admin")[level]["services"]
        assert service["resources"][0]["display_name"] == "Virtual cores", level
