"""Forecasts of single projects, from their accounts: when somebody asks, and never from less than a week."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from msgspec import structs

from limes.metering import queries as metering
from limes.metering.close import close_days
from limes.metering.queries import GapRow
from tests.api.world import BERLIN, GERMANY, World
from tests.commitments.commitments import BEHAVIORS, PATHS, commit
from tests.growth import test_growth
from tests.growth.test_growth import DAY, HOUR, forecasts, grow, history, sample, use
from tests.support.limes import with_values
from tests.support.statements import count_statements

PATH = PATHS["berlin"]
BERLINS_QUOTA = 20


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    """A cloud whose account has just begun: at midnight."""
    world = make(behaviors=BEHAVIORS)
    scraped(world)
    close(world)
    return world


def scraped(world: World) -> None:
    """Just now, by collectors."""
    now = world.clock.now().timestamp()
    world.run("UPDATE project_services SET scraped_at = %s, failing_since = NULL", [now])


def close(world: World) -> None:
    settings = with_values(world.limes.settings, {"metering.valid_for": 1000 * DAY})
    close_days(structs.replace(world.limes, settings=settings))


def step(world: World, cores: int, az: str = "az-one") -> None:
    """Berlin's usage changes in one AZ, as a scrape finds it."""
    test_growth.step(world, cores, az)
    use(world, cores, az=az)
    scraped(world)


def use_by_day(world: World, amounts: Sequence[int]) -> None:
    """From each midnight on; the last one is over."""
    for amount in amounts:
        step(world, amount)
        world.clock.advance(DAY)
        scraped(world)
        close(world)


def cores(world: World, query: str = "", token: str = "berlin-reader") -> Any:
    (found,) = forecasts(world, f"service=compute&resource=cores&{query}", PATH, token)
    return found


def limit(document: Any, name: str) -> Any:
    (found,) = (each for each in document["limits"] if each["limit"] == name)
    return found


@pytest.mark.sql
def test_when_is_my_quota_full(cloud: World) -> None:
    step(cloud, 0, "az-two")
    use_by_day(cloud, range(1, 11))
    found = cores(cloud)
    assert (found["days"], found["usage"]) == (10, 10)
    assert found["growth_per_day"] == {"expected": 1, "lowest": 1, "highest": 1}
    quota = limit(found, "quota")
    now = int(cloud.clock.now().timestamp())
    assert quota["amount"] == BERLINS_QUOTA
    assert quota["at"] - now == pytest.approx(9.5 * DAY, abs=2), "the average of a day is that of its middle"
    assert quota["earliest"] == quota["latest"] == quota["at"]
    assert found["limits"][0]["limit"] == "quota"


def test_it_is_what_a_domain_of_one_project_is_told(cloud: World) -> None:
    """The same method, once from samples and once from the account."""
    cloud.run("DELETE FROM projects WHERE uuid <> %s", [BERLIN])
    step(cloud, 0, "az-two")
    for amount in (3, 9, 4, 4, 8, 12, 11, 2, 15, 14, 13, 18):
        step(cloud, amount)
        for _ in range(24):
            sample(cloud)
            cloud.clock.advance(HOUR)
        scraped(cloud)
        close(cloud)
    sample(cloud)
    (of_domain,) = forecasts(cloud, "service=compute&resource=cores", f"/v1/domains/{GERMANY}")
    of_project = cores(cloud)
    for key in ("days", "usage", "growth_per_day"):
        assert of_project[key] == of_domain[key]


def test_it_needs_a_week_of_whole_days(cloud: World) -> None:
    cloud.clock.advance(8 * HOUR)
    use_by_day(cloud, range(1, 7))
    found = cores(cloud)
    assert (found["days"], found["missing_days"]) == (6, 1)
    assert "growth_per_day" not in found
    assert "at" not in limit(found, "quota")
    use_by_day(cloud, [7])
    assert cores(cloud)["days"] == 7
    assert "growth_per_day" in cores(cloud)


def test_a_project_that_is_new_in_an_old_cloud_has_no_data_from_before(cloud: World) -> None:
    cloud.clock.advance(60 * DAY)
    cloud.run(
        "UPDATE metered_projects SET since = %s WHERE project_uuid = %s", [int(cloud.clock.now().timestamp()), BERLIN]
    )
    use_by_day(cloud, range(1, 6))
    assert cores(cloud)["missing_days"] == 2


def test_data_begin_when_something_is_used_or_granted(cloud: World) -> None:
    """Of a service that is added later, nothing was used before. That says nothing about growth."""
    cloud.run("UPDATE project_resources SET quota = 0, usage = 0")
    cloud.run("DELETE FROM project_az_resources")
    cloud.run("DELETE FROM usage_steps")
    cloud.clock.advance(20 * DAY + 5 * HOUR)
    use_by_day(cloud, range(10, 16))
    assert cores(cloud)["days"] == 5, "the first day was not a whole one"
    use_by_day(cloud, range(16, 20))
    assert cores(cloud)["growth_per_day"]["expected"] == 1


def test_what_is_granted_and_never_used_is_not_full_soon(cloud: World) -> None:
    cloud.run("UPDATE project_resources SET usage = 0")
    cloud.run("DELETE FROM project_az_resources")
    cloud.run("DELETE FROM usage_steps")
    sample(cloud)  # notes quotas
    cloud.clock.advance(10 * DAY)
    scraped(cloud)
    found = cores(cloud)
    assert (found["usage"], found["days"]) == (0, 10)
    assert found["growth_per_day"]["expected"] == 0
    assert "at" not in limit(found, "quota")


@pytest.mark.sql
def test_days_of_which_nothing_is_known_are_left_out(cloud: World) -> None:
    use_by_day(cloud, range(1, 6))
    now = int(cloud.clock.now().timestamp())
    cloud.clock.advance(4 * DAY)
    end = int(cloud.clock.now().timestamp())
    cloud.engine.atomic(partial(metering.add_gaps, cloud.engine, [GapRow(BERLIN, "compute", now, end)]))
    use_by_day(cloud, (10,))
    assert (cores(cloud)["days"], cores(cloud)["missing_days"]) == (6, 1)


def test_commitments_and_zones(cloud: World) -> None:
    commit(cloud, "berlin", amount=12, duration="1 year")
    step(cloud, 0, "az-two")
    use_by_day(cloud, range(1, 11))
    committed = limit(cores(cloud), "commitments")
    assert committed["amount"] == 12
    assert committed["at"] < limit(cores(cloud), "quota")["at"]
    zones = {each["availability_zone"]: each for each in forecasts(cloud, "resource=cores&per_az", PATH)}
    assert zones["az-one"]["growth_per_day"]["expected"] == 1
    assert [each["limit"] for each in zones["az-one"]["limits"]] == ["commitments"], "single zones have no quota"


def test_what_is_full_first_comes_first(cloud: World) -> None:
    use_by_day(cloud, range(1, 11))
    assert forecasts(cloud, "", PATH)[0]["resource"] == "cores"


def test_days_that_are_not_kept_are_not_made_up(cloud: World) -> None:
    use_by_day(cloud, range(1, 30))
    assert cores(cloud)["days"] == 29
    cloud.clock.advance(100 * DAY)
    scraped(cloud)
    assert cores(cloud)["days"] == 90


@pytest.mark.sql
def test_history_has_no_days_that_are_not_kept(cloud: World) -> None:
    use_by_day(cloud, range(1, 5))
    cloud.clock.advance(420 * DAY)
    scraped(cloud)
    (found,) = history(cloud, "days=500", PATH)
    assert found["days"][0]["date"] == "2026-01-25", "400 days ago"
    (found,) = history(cloud, "granularity=month&days=500", PATH)
    assert found["months"][0]["date"] == "2026-01"


@pytest.mark.sql
@pytest.mark.parametrize("query", ["", "?per_az", "?service=compute&resource=cores"])
def test_the_number_of_queries_is_fixed(cloud: World, query: str) -> None:
    def ask() -> None:
        cloud.get(f"{PATH}/forecast{query}")

    few = count_statements(cloud.engine, ask)
    grow(cloud, range(20))
    use_by_day(cloud, range(20))
    assert count_statements(cloud.engine, ask) <= few + 3 <= 22, "an account that is open needs up to three more"
