"""A commitment that is confirmed raises quota that follows usage at once, before anything is computed."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.world import World
from tests.autogrow.growing import make_growing
from tests.commitments.commitments import BEHAVIORS, PATHS, YEAR_2027, ask, commit, offer, take


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    """Cores grow by themselves; berlin uses 2 in az-one, and 3 in az-two."""
    return make_growing(make, behaviors=BEHAVIORS)


def quota(world: World, project: str = "berlin") -> Any:
    document = world.get(f"{PATHS[project]}?service=compute&resource=cores")["project"]
    return document["services"][0]["resources"][0]["quota"]


def due(world: World) -> list[float]:
    return [time for (time,) in world.engine.rows("SELECT quota_due_at FROM resources WHERE quota_due_at IS NOT NULL")]


@pytest.mark.sql
def test_create(world: World) -> None:
    before = quota(world)
    with world.engine.connection():
        world.engine.execute("UPDATE resources SET quota_due_at = 4e9 WHERE quota_due_at IS NOT NULL")
        result = ask(world, "berlin", "new", amount=before + 30)
        assert result.status_code == 201
        assert "warnings" not in result.json
        assert quota(world) >= before + 30
        assert due(world) == [world.clock.now().timestamp()]
        rows = world.engine.rows(
            "SELECT old, new, reason, detail, initiator_name FROM quota_history ORDER BY number DESC LIMIT 1"
        )
    assert [row[2] for row in rows] == ["autogrow"]
    assert f"{before + 30} committed" in rows[0][3]


@pytest.mark.sql
def test_transfer(world: World) -> None:
    made = commit(world, amount=40)
    shown = offer(world, made["id"], 40).json["commitment"]
    assert quota(world, "dresden") == 31
    assert take(world, shown["id"], shown["transfer_token"]).status_code == 202
    assert quota(world, "dresden") == 40


def test_a_planned_one_raises_nothing_and_warns_of_nothing(world: World) -> None:
    before = quota(world)
    result = ask(world, "berlin", "new", amount=before + 40, confirm_by=YEAR_2027)
    assert result.status_code == 201
    assert "warnings" not in result.json
    assert "warnings" not in ask(world, "berlin", "plan", amount=before + 40).json
    assert quota(world) == before


def test_before_a_collector_computes_quota(world: World) -> None:
    """The API has its new configuration earlier than the collector: quota is still what people have set."""
    with world.engine.connection():
        world.engine.execute("UPDATE resources SET quota_due_at = NULL")
        world.engine.execute("DELETE FROM project_az_quotas")
    assert ask(world, "berlin", "new", amount=20).status_code == 201
    assert quota(world) == 8


def test_one_that_is_refused_raises_nothing(world: World) -> None:
    before = quota(world)
    assert ask(world, "berlin", "new", amount=1000).status_code == 409
    assert quota(world) == before
