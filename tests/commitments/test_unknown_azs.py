"""What is used in an AZ that is not known is never sold, in whichever AZ one asks for it."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.commitments.rules import CommitmentRules
from tests.api.world import World
from tests.commitments.commitments import BEHAVIORS, NOW, ask, commit, offer, take

RULES = CommitmentRules(conversions=({("compute", "cores"): 1, ("volume", "capacity"): 1},))
RAM = {"resource_name": "ram", "availability_zone": "any", "duration": "1 year"}


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    """201 cores, of which 33 are in use in az-one and 3 in az-two; and 5 in unknown places."""
    world = make(behaviors=BEHAVIORS, commitment_rules=RULES)
    use(world, 1, "cores", "unknown", 4)
    use(world, 2, "cores", "any", 1)
    return world


def use(world: World, project: int, resource: str, az: str, usage: int) -> None:
    world.engine.execute(
        "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
        " SELECT %s, id, %s, %s, '' FROM resources WHERE name = %s"
        " ON CONFLICT (project_id, resource_id, az) DO UPDATE SET usage = excluded.usage",
        [project, az, usage, resource],
    )


def plan(world: World, project: str = "berlin", **fields: Any) -> Any:
    result = ask(world, project, "plan", **fields)
    assert result.status_code == 200, result.text
    return result.json["plan"]


def test_the_second_az_is_not_sold_out(cloud: World) -> None:
    """By itself each AZ has room for what is asked. Berlin may have 101 in az-two, as it uses 3 of them."""
    commit(cloud, "dresden", amount=98)  # all of az-one, with the 2 that berlin uses
    assert ask(cloud, "berlin", "can-confirm", availability_zone="az-two", amount=96).json["result"] is True
    assert ask(cloud, "berlin", "can-confirm", availability_zone="az-two", amount=97).json["result"] is False
    refused = ask(cloud, "berlin", "new", availability_zone="az-two", amount=97)
    assert refused.status_code == 409
    assert refused.text.startswith(
        "not enough capacity available for immediate confirmation: 5 are used in unknown availability zones and cannot be"
        " sold; 96 could be confirmed now; all of it from 2026-01-01T01:00:00Z on"
    )
    commit(cloud, availability_zone="az-two", amount=96)
    assert ask(cloud, "dresden", "can-confirm", availability_zone="az-two", amount=1).json["result"] is False


@pytest.mark.sql
def test_the_cluster_says_how_much_is_left(cloud: World) -> None:
    """To a project that uses nothing there, as dresden in az-two, `plan` offers just what the cluster's report shows."""

    def left(name: str) -> Any:
        services = cloud.request(
            "GET", "/v1/clusters/current", query_string="resource=" + name, headers={"X-Limes-V2-API-Preview": "per-az"}
        ).json["cluster"]["services"]
        return services[0]["resources"][0].get("committable")

    for amount in (1, 90):
        cores, ram = left("cores"), left("ram")
        offered = plan(cloud, "dresden", availability_zone="az-two", amount=1)["confirmable_now"]
        assert (set(cores), cores["az-two"]) == ({"az-one", "az-two"}, offered)
        assert ram == {"any": plan(cloud, "dresden", **RAM, amount=1)["confirmable_now"]}
        commit(cloud, "berlin", availability_zone="az-two", amount=amount)
        commit(cloud, "berlin", **RAM, amount=10 * amount)
    use(cloud, 1, "cores", "any", 1000)
    assert left("cores") == {"az-one": 0, "az-two": 0}
    without_preview = cloud.get("/v1/clusters/current?resource=cores")["cluster"]["services"][0]["resources"][0]
    assert "committable" not in without_preview


def test_the_plan_says_what_is_missing(cloud: World) -> None:
    commit(cloud, "dresden", amount=98)
    commit(cloud, "dresden", availability_zone="az-two", amount=50, duration="1 year")
    two = {"availability_zone": "az-two"}
    assert plan(cloud, **two, amount=46) == {
        "confirmable_now": 46,
        "confirmable_at": NOW,
        "unplaced_usage": 5,
        "blocked_by": [],
    }
    one_ends = {"availability_zone": "az-one", "amount": 98, "expires_at": NOW + 3600}
    assert plan(cloud, **two, amount=51) == {
        "confirmable_now": 46,
        "confirmable_at": NOW + 3600,
        "unplaced_usage": 5,
        "blocked_by": [one_ends],
    }
    never = plan(cloud, **two, amount=102)
    assert (never["missing_capacity"], len(never["blocked_by"])) == (1, 2)


def test_a_transfer_needs_room_only_for_what_it_adds(cloud: World) -> None:
    made = commit(cloud, availability_zone="az-two", amount=10, duration="1 year")
    use(cloud, 2, "cores", "any", 155)  # 201 - 33 - 10 - 159: over by 1
    token = offer(cloud, made["id"], 10).json["commitment"]["transfer_token"]
    assert take(cloud, made["id"], token).status_code == 409  # the 3 that berlin uses there would be claimed once more
    use(cloud, 1, "cores", "az-two", 0)
    assert take(cloud, made["id"], token).status_code == 202


def test_without_azs_nothing_changes(cloud: World) -> None:
    """Commitments to ram are for no AZ: berlin's own usage in `any` is covered by them."""
    assert plan(cloud, **RAM, amount=8192) == {"confirmable_now": 8192, "confirmable_at": NOW, "blocked_by": []}
    assert plan(cloud, "dresden", **RAM, amount=1)["confirmable_now"] == 8192 - 512


def test_commitments_from_before_they_were_for_one_az(cloud: World) -> None:
    """One in `any` covers what its project uses there, and claims the rest."""
    commit(cloud, amount=1)
    cloud.engine.execute("UPDATE project_commitments SET az = 'any', project_id = 2, amount = 10")
    assert plan(cloud, availability_zone="az-two", amount=1)["confirmable_now"] == 101
    cloud.engine.execute("UPDATE project_commitments SET amount = 132")  # 201 - 33 - 3 - 4 - 132 = 29
    assert plan(cloud, availability_zone="az-two", amount=1)["confirmable_now"] == 3 + 29
