"""A resource that its backend does not let a project have: there are no commitments to it, however one tries."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.commitments.reading import sample_utilisation
from limes.commitments.rules import CommitmentRules
from limes.commitments.settle import settle_commitments
from tests.api.world import DRESDEN, GERMANY, World
from tests.commitments.commitments import BEHAVIORS, NOW, PATHS, amounts, ask, commit, offer, take
from tests.support.rows import all_rows, changes

CORES, VOLUME = ("compute", "cores"), ("volume", "capacity")
RULES = CommitmentRules(conversions=({CORES: 1, VOLUME: 1},), renewal_window=86400 * 400)
TEXT = "the backend does not let this project have {}, so there are no commitments to it\n"


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    world = make(behaviors=BEHAVIORS, commitment_rules=RULES)
    world.run(
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
        " SELECT 2, id, 0, 0, 0 FROM resources WHERE name = 'capacity'"
    )
    world.run(
        "INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
        " SELECT id, 'az-one', 50, '[]' FROM resources WHERE name = 'capacity'"
    )
    return world


def forbid(world: World, resource: str = "cores", most: int | None = 0, project: int = 2) -> None:
    world.run(
        "UPDATE project_resources SET max_backend_quota = %s WHERE project_id = %s"
        " AND resource_id = (SELECT id FROM resources WHERE name = %s)",
        [most, project, resource],
    )


def refused(world: World, result: Any, ref: str = "compute/cores") -> None:
    assert (result.status_code, result.text) == (422, TEXT.format(ref))


def test_nothing_new(cloud: World) -> None:
    forbid(cloud)
    before = all_rows(cloud.engine)
    for what in ("new", "can-confirm", "plan"):
        refused(cloud, ask(cloud, "dresden", what))
    refused(cloud, ask(cloud, "dresden", "new", confirm_by=NOW + 60))
    assert changes(before, all_rows(cloud.engine)) == {}
    assert ask(cloud, "berlin", "can-confirm").json["result"] is True
    forbid(cloud, most=1)  # little is not nothing
    assert ask(cloud, "dresden", "can-confirm", amount=1).json["result"] is True


def test_nothing_from_other_projects_or_resources(cloud: World) -> None:
    forbid(cloud)
    made = commit(cloud, amount=3)
    token = offer(cloud, made["id"], 3).json["commitment"]["transfer_token"]
    refused(cloud, take(cloud, made["id"], token, project="dresden"))
    volume = {"service_type": "volume", "resource_name": "capacity", "duration": "1 year"}
    forbid(cloud, "capacity", most=0, project=1)
    made = commit(cloud, amount=3, duration="1 year")
    document = {"target_service": "volume", "target_resource": "capacity", "source_amount": 3, "target_amount": 3}
    result = cloud.request("POST", f"{PATHS['berlin']}/commitments/{made['id']}/convert", json={"commitment": document})
    refused(cloud, result, "volume/capacity")
    refused(cloud, ask(cloud, "berlin", "new", **volume), "volume/capacity")


def test_what_there_was_before_ends_and_does_not_last_longer(cloud: World) -> None:
    made = commit(cloud, "dresden", amount=3)
    forbid(cloud)
    path = f"{PATHS['dresden']}/commitments/{made['id']}"
    refused(cloud, cloud.request("POST", f"{path}/renew"))
    refused(cloud, cloud.request("POST", f"{path}/update-duration", json={"duration": "1 year"}))
    assert amounts(cloud, "dresden") == [(3, "confirmed")]
    token = offer(cloud, made["id"], 3, project="dresden").json["commitment"]["transfer_token"]
    assert take(cloud, made["id"], token, project="berlin").status_code == 202  # who has it may use it


def test_what_waits_is_not_confirmed_and_holds_up_nobody(cloud: World) -> None:
    """az-one has 100 cores, of which dresden uses 31 and berlin 2. dresden waits for 60 more, before berlin."""
    commit(cloud, "dresden", amount=91, confirm_by=NOW + 10)
    forbid(cloud)
    cloud.clock.advance(20)
    assert ask(cloud, "berlin", "can-confirm", amount=60).json["result"] is True
    assert ask(cloud, "berlin", "plan", amount=60).json["plan"]["confirmable_now"] == 69
    settle_commitments(cloud.limes)
    assert amounts(cloud, "dresden") == [(91, "pending")]
    forbid(cloud, most=None)
    settle_commitments(cloud.limes)
    assert amounts(cloud, "dresden") == [(91, "confirmed")]


def test_it_is_not_advertised_to_the_project(cloud: World) -> None:
    forbid(cloud)

    def offers(path: str, key: str) -> dict[Any, Any]:
        return {
            resource["name"]: "commitment_config" in resource
            for service in cloud.get(path)[key]["services"]
            for resource in service["resources"]
        }

    assert offers(PATHS["dresden"], "project") == {"cores": False, "ram": True, "capacity": True}
    listed = cloud.get(f"/v1/domains/{GERMANY}/projects?resource=cores")["projects"]
    shown = {project["id"]: "commitment_config" in project["services"][0]["resources"][0] for project in listed}
    assert shown == {project["id"]: project["id"] != DRESDEN for project in listed}
    assert offers(f"/v1/domains/{GERMANY}?resource=cores", "domain") == {"cores": True}
    assert offers("/v1/clusters/current?resource=cores", "cluster") == {"cores": True}


def test_it_is_not_recommended(cloud: World) -> None:
    for _ in range(10):
        sample_utilisation(cloud.limes)
        cloud.clock.advance(86400)

    def recommended() -> dict[Any, Any]:
        found = cloud.get(f"{PATHS['dresden']}/commitments/utilisation?resource=cores")["utilisation"]
        return {utilisation["availability_zone"]: utilisation["recommended_amount"] for utilisation in found}

    assert recommended()["az-one"] == 31
    forbid(cloud)
    assert recommended()["az-one"] == 0
