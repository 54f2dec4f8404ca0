"""The utilisation report: what the looks add up to, and what it recommends."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.commitments.plan import DayOfUse, recommended_amount
from limes.commitments.reading import sample_utilisation
from tests.api.world import World
from tests.commitments.commitments import BEHAVIORS, PATHS, commit
from tests.support.rows import all_rows, changes

DAY = 86400


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return make(behaviors=BEHAVIORS)


def use(world: World, az: str, usage: int) -> None:
    world.engine.execute(
        "UPDATE project_az_resources SET usage = %s WHERE project_id = 1 AND az = %s"
        " AND resource_id = (SELECT id FROM resources WHERE name = 'cores')",
        [usage, az],
    )


def look(world: World) -> None:
    sample_utilisation(world.limes)


def report(world: World, query: str = "?service=compute&resource=cores", project: str = "berlin") -> dict[Any, Any]:
    return {
        utilisation["availability_zone"]: utilisation
        for utilisation in world.get(f"{PATHS[project]}/commitments/utilisation{query}")["utilisation"]
    }


@pytest.mark.sql
def test_several_looks_make_a_day(cloud: World) -> None:
    commit(cloud, amount=10, duration="1 year")
    commit(cloud, amount=4, availability_zone="az-two")
    before = all_rows(cloud.engine)
    look(cloud)
    assert set(changes(before, all_rows(cloud.engine))) == {"commitment_use"}
    use(cloud, "az-one", 14)
    use(cloud, "az-two", 0)
    cloud.clock.advance(7200)  # the one in az-two was for an hour
    look(cloud)
    found = report(cloud)
    assert found["az-one"] == {
        "service_type": "compute",
        "resource_name": "cores",
        "availability_zone": "az-one",
        "recommended_amount": 2,
        "days": [{"date": "2026-01-01", "committed": 10, "used": 8, "unused": 2, "min_used": 2, "max_used": 14}],
    }
    assert found["az-two"]["days"] == [
        {"date": "2026-01-01", "committed": 2, "used": 1, "unused": 1, "min_used": 0, "max_used": 3}
    ]
    cloud.clock.advance(DAY)
    look(cloud)
    days = report(cloud)["az-one"]["days"]
    assert [(day["date"], day["used"]) for day in days] == [("2026-01-01", 8), ("2026-01-02", 14)]
    assert [day["date"] for day in report(cloud, "?resource=cores&days=1")["az-one"]["days"]] == ["2026-01-02"]


@pytest.mark.sql
def test_what_is_used_for_a_part_of_the_day_is_not_used_all_day(cloud: World) -> None:
    """Nothing is committed, so what is not used leaves no trace of its own."""
    use(cloud, "az-one", 0)
    use(cloud, "az-two", 6)
    look(cloud)
    use(cloud, "az-one", 9)
    use(cloud, "az-two", 0)
    look(cloud)
    look(cloud)
    figures = {"committed": 0, "unused": 0, "min_used": 0, "date": "2026-01-01"}
    found = report(cloud)
    assert found["az-one"]["days"] == [{**figures, "used": 6, "max_used": 9}]
    assert found["az-two"]["days"] == [{**figures, "used": 2, "max_used": 6}]
    assert (found["az-one"]["recommended_amount"], found["az-two"]["recommended_amount"]) == (0, 0)
    for _ in range(24):
        cloud.clock.advance(3600)
        look(cloud)
    assert report(cloud)["az-one"]["days"][-1]["min_used"] == 9
    rows = "SELECT az FROM commitment_use WHERE day = 20455 AND project_id = 1 AND az = 'az-two'"
    with cloud.engine.connection():
        assert cloud.engine.rows(rows) == [], "what was not used at all on a day has no row for it"


def test_resources_that_are_committed_for_all_azs_together(cloud: World) -> None:
    commit(cloud, resource_name="ram", availability_zone="any", amount=100, duration="1 year")
    look(cloud)
    ((az, ram),) = report(cloud, "?resource=ram").items()
    assert (az, ram["unit"], ram["days"][0]["used"], ram["recommended_amount"]) == ("any", "MiB", 512, 512)
    assert report(cloud, "?resource=gpus") == {}


def test_nothing_is_recommended_where_nothing_can_be_bought(cloud: World) -> None:
    """berlin uses 2 cores in az-one, 3 in az-two, and 7 nobody knows where: these are shown, too."""
    cloud.engine.execute(
        "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
        " SELECT 1, id, 'any', 7, '' FROM resources WHERE name = 'cores'"
    )
    look(cloud)
    found = {az: (each["recommended_amount"], each["days"][0]["used"]) for az, each in report(cloud).items()}
    assert found == {"any": (0, 7), "az-one": (2, 2), "az-two": (3, 3)}


@pytest.mark.sql
def test_old_days_are_forgotten(cloud: World) -> None:
    look(cloud)
    cloud.clock.advance(91 * DAY)
    look(cloud)
    with cloud.engine.connection():
        assert cloud.engine.rows("SELECT DISTINCT day FROM commitment_use") == [(20454 + 91,)]


@pytest.mark.parametrize("days", ["0", "x", "3661"])
def test_bad_days(cloud: World, days: str) -> None:
    path = f"{PATHS['berlin']}/commitments/utilisation"
    assert cloud.request("GET", path, query_string=f"days={days}").status_code == 400


@pytest.mark.parametrize(
    ("minima", "today", "recommended"),
    [
        ({}, 10, 0),
        ({10: 7}, 10, 7),
        ({1: 5, **dict.fromkeys(range(2, 11), 20)}, 10, 20),  # nine days of ten
        ({1: 5, 2: 6, **dict.fromkeys(range(3, 11), 20)}, 10, 6),
        ({1: 20, 3: 20}, 3, 0),  # the day between was one without any use
    ],
)
def test_recommendation(minima: dict[Any, Any], today: int, recommended: int) -> None:
    days = {day: DayOfUse(day, 1, amount, amount, amount, 0) for day, amount in minima.items()}
    assert recommended_amount(days, today) == recommended
