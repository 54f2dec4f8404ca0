"""The metrics of open requests for quota."""

import pytest

from limes.requests.metrics import request_gauges
from tests.api.world import World
from tests.quota.temporary import DAY
from tests.requests.quota_requests import act, asked
from tests.support.statements import count_statements

NUMBER, AGE = "limes_open_quota_requests", "limes_open_quota_requests_age_seconds"


def figures(world: World) -> dict[tuple[str, ...], float]:
    families = request_gauges(world.limes).collect()
    return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}


@pytest.mark.sql
def test_without_requests_all_are_0(world: World) -> None:
    assert figures(world) == {
        (NUMBER, "project", "waiting"): 0,
        (NUMBER, "project", "passed_on"): 0,
        (NUMBER, "domain", "waiting"): 0,
        (AGE, "project"): 0,
        (AGE, "domain"): 0,
    }


@pytest.mark.sql
def test_they_are_counted_by_where_they_wait(world: World) -> None:
    passed_on = asked(world, "berlin", compute={"cores": 90})
    world.clock.advance(DAY)
    waits = asked(world, "dresden", "dresden-admin", compute={"cores": 40})
    decided = asked(world, "germany", "germany-admin", compute={"cores": 200})
    act(world, "germany", decided, "reject", "cloud-admin", reason="no")
    world.clock.advance(3600)
    above = act(world, "berlin", passed_on, "pass-on", "germany-admin").json["quota_request"]["id"]
    world.clock.advance(60)
    found = figures(world)
    assert found == {
        (NUMBER, "project", "waiting"): 1,
        (NUMBER, "project", "passed_on"): 1,
        (NUMBER, "domain", "waiting"): 1,
        (AGE, "project"): 3660,
        (AGE, "domain"): 60,
    }
    act(world, "germany", above, "reject", "cloud-admin", reason="no")
    found = figures(world)
    assert found[NUMBER, "project", "waiting"] == 2, "it is the domain admin's turn again"
    assert found[AGE, "project"] == DAY + 3660
    act(world, "berlin", passed_on, "withdraw", "berlin-admin")
    act(world, "dresden", waits, "approve", "germany-admin")
    assert set(figures(world).values()) == {0}


@pytest.mark.sql
def test_many_cost_as_many_queries_as_none(world: World) -> None:
    def statements() -> int:
        return count_statements(world.engine, lambda: figures(world))

    before = statements()
    asked(world, "berlin", compute={"cores": 90})
    asked(world, "dresden", "dresden-admin", compute={"cores": 40})
    assert statements() == before


@pytest.mark.sql
def test_what_is_only_proposed_waits_for_nobody_here(world: World) -> None:
    id_ = asked(world, "berlin", "berlin-member", compute={"cores": 40})
    world.clock.advance(DAY)
    assert figures(world)[NUMBER, "project", "waiting"] == 0
    act(world, "berlin", id_, "confirm", "berlin-admin")
    world.clock.advance(60)
    found = figures(world)
    assert (found[NUMBER, "project", "waiting"], found[AGE, "project"]) == (1, 60)
