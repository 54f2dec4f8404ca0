"""`usage-history` and `forecast`: how usage has grown, and when it reaches its limits."""

from collections.abc import Sequence
from typing import Any

import pytest

from limes.commitments.reading import sample_utilisation
from limes.growth.sample import sample_growth
from limes.metering import queries as metering
from limes.metering.queries import StepRow
from tests.api.world import BERLIN, GERMANY, World
from tests.commitments.commitments import PATHS, commit
from tests.metering.test_reports import DAY, HOUR, close

DOMAIN = f"/v1/domains/{GERMANY}"


def sample(world: World) -> None:
    sample_growth(world.limes)


def use(world: World, cores: int, project: str = "berlin", az: str = "az-one") -> None:
    """Usage of cores in az-one; that in other AZs stays."""
    ids = (
        "project_id = (SELECT id FROM projects WHERE name = %s)"
        " AND resource_id = (SELECT id FROM resources WHERE name = 'cores')"
    )
    world.run(f"DELETE FROM project_az_resources WHERE {ids}", [project])
    world.run(
        "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources) SELECT project_id,"
        f" resource_id, %s, %s, '' FROM project_resources WHERE {ids}",
        [az, cores, project],
    )
    world.run(f"UPDATE project_resources SET usage = %s WHERE {ids}", [cores, project])


def step(world: World, cores: int, *azs: str) -> None:
    """Berlin's usage changes in its account, as a scrape finds it."""
    now = int(world.clock.now().timestamp())
    rows = [StepRow(BERLIN, "compute", "cores", az, now, cores, now) for az in azs]
    world.engine.atomic(lambda: metering.add_steps(world.engine, rows))


def history(world: World, query: str = "", path: str = "/v1", token: str = "cloud-admin") -> list[Any]:
    found: list[Any] = world.get(f"{path}/usage-history?service=compute&resource=cores&{query}", token)["usage_history"]
    return found


def forecasts(world: World, query: str = "", path: str = "/v1", token: str = "cloud-admin") -> list[Any]:
    found: list[Any] = world.get(f"{path}/forecast?{query}", token)["forecasts"]
    return found


def refused(world: World, query: str, path: str = "/v1/usage-history") -> str:
    result = world.request("GET", path, query_string=query)
    assert result.status_code == 400, result.text
    return str(result.text).strip()


def grow(world: World, amounts: Sequence[int]) -> None:
    """One sample at each noon, and one on the day after."""
    world.clock.advance(12 * HOUR)
    for amount in amounts:
        use(world, amount)
        sample(world)
        world.clock.advance(DAY)
    sample(world)


# -- history -----------------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_days_of_the_cloud_and_of_a_domain(cloud: World) -> None:
    grow(cloud, [100, 200])
    cloud.clock.advance(HOUR)
    use(cloud, 300)
    sample(cloud)
    (cores,) = history(cloud)
    assert [each["date"] for each in cores["days"]] == ["2026-01-01", "2026-01-02", "2026-01-03"]
    others = cores["days"][0]["used"] - 100
    today = cores["days"][2]
    assert (today["used"], today["largest"], today["last"]) == (250 + others, 300 + others, 300 + others)
    assert today["quota"] > 0
    assert today["capacity"] > 0
    (of_domain,) = history(cloud, path=DOMAIN, token="germany-viewer")
    assert "capacity" not in of_domain["days"][0]
    assert of_domain["days"][0]["quota"] < today["quota"]
    assert {each["resource"] for each in cloud.get("/v1/usage-history")["usage_history"]} >= {
        "cores",
        "ram",
        "capacity",
    }


@pytest.mark.sql
def test_hours_and_months(cloud: World) -> None:
    use(cloud, 100)
    for _ in range(40):
        sample(cloud)
        cloud.clock.advance(DAY)
        sample(cloud)
    (hours,) = history(cloud, "granularity=hour")
    assert [each["date"] for each in hours["hours"]] == ["2026-02-10T00:00:00Z"]
    (hours,) = history(cloud, "granularity=hour&from=2026-02-08")
    assert len(hours["hours"]) == 3
    (months,) = history(cloud, "granularity=month")
    assert [each["date"] for each in months["months"]] == ["2026-01", "2026-02"]
    (months,) = history(cloud, "granularity=month&from=2026-01-15&until=2026-02-01")
    assert [each["date"] for each in months["months"]] == ["2026-01"]
    (days,) = history(cloud, "from=2026-01-30T12:00:00Z&until=1769990400")
    assert [each["date"] for each in days["days"]] == ["2026-01-30", "2026-01-31", "2026-02-01"]


def test_single_zones(cloud: World) -> None:
    use(cloud, 100)
    sample(cloud)
    zones = history(cloud, "per_az", DOMAIN)
    assert zones[0]["availability_zone"] == "az-one"
    assert all("quota" not in each["days"][0] for each in zones)


def test_days_before_the_first_sample_come_from_the_use_of_commitments(cloud: World) -> None:
    commit(cloud, amount=10, duration="1 year")
    sample_utilisation(cloud.limes)
    cloud.clock.advance(DAY)
    sample_utilisation(cloud.limes)
    sample(cloud)
    (cores,) = history(cloud)
    first, second = cores["days"]
    assert (first["used"], first["committed"], "quota" in first) == (second["used"], 10, False)
    assert (second["committed"], "quota" in second) == (10, True)


@pytest.mark.sql
def test_zones_of_a_project_are_added_up_before_they_are_rounded(cloud: World) -> None:
    close(cloud)
    for amount, seconds in ((1, 2400), (0, 1200)):
        step(cloud, amount, "az-one", "az-two")
        cloud.clock.advance(seconds)
    (cores,) = history(cloud, "granularity=hour", PATHS["berlin"])
    assert cores["hours"][-1]["used"] == 1  # 1.33, of 0.67 in each


@pytest.mark.sql
def test_a_project_is_told_from_its_account(cloud: World) -> None:
    close(cloud)
    (before,) = history(cloud, "granularity=hour", PATHS["berlin"]) or [{"hours": []}]
    assert before["hours"] == []
    for amount in (5, 35):
        step(cloud, amount, "az-one")
        sample(cloud)
        cloud.clock.advance(HOUR)
    found = history(cloud, "granularity=hour&per_az", PATHS["berlin"], "berlin-reader")
    cores = next(each for each in found if each["availability_zone"] == "az-one")
    assert [each["used"] for each in cores["hours"]][-2:] == [5, 35]
    (cores,) = history(cloud, "", PATHS["berlin"])
    (today,) = cores["days"]
    assert today["last"] >= 35
    assert today["quota"] == 20


@pytest.mark.parametrize("metering_began", [0, HOUR // 4])
def test_the_first_averages_of_a_project_are_of_the_time_since_it_was_found(cloud: World, metering_began: int) -> None:
    """In a new cloud, the hour, the day and the month before are not times in which nothing was used."""
    cloud.clock.advance(DAY + HOUR // 4)
    before = int(cloud.clock.now().timestamp())
    cloud.clock.advance(metering_began)
    close(cloud)
    if metering_began:  # the project was found later
        cloud.run("UPDATE metering_state SET begun_at = %s", [before])
        cloud.run("DELETE FROM usage_gaps")
    step(cloud, 30, "az-one")
    cloud.clock.advance(HOUR // 4)
    for granularity in ("hour", "day", "month"):
        found = history(cloud, f"granularity={granularity}&per_az", PATHS["berlin"])
        zone = next(each for each in found if each["availability_zone"] == "az-one")
        assert [each["used"] for each in zone[f"{granularity}s"]] == [30]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("from=2025-12-31&until=2025-12-30", "until: expected a time after `from`"),
        ("from=2036-01-01", "from: expected no time in the future; it is 2026-01-01T00:00:00Z now"),
        ("from=2026-01-01&until=2026-01-01", "until: expected a time after `from`"),
        (
            "granularity=hour&from=2025-12-01",
            "from: single hours are kept from 2025-12-18T00:00:00Z on; ask for longer times with"
            " `granularity`, or for later ones",
        ),
    ],
)
def test_bad_questions(cloud: World, query: str, message: str) -> None:
    assert refused(cloud, query) == f"query parameter {message}"


# -- forecast ----------------------------------------------------------------------------------------------------------


def test_a_forecast_needs_a_week(cloud: World) -> None:
    assert cloud.get("/v1/forecast") == {"forecasts": []}, "no sample so far"
    grow(cloud, [100, 110, 120, 130])
    (cores,) = forecasts(cloud, "service=compute&resource=cores")
    assert (cores["days"], cores["missing_days"]) == (4, 3)
    assert "growth_per_day" not in cores
    assert all("at" not in limit for limit in cores["limits"] if limit["amount"] > cores["usage"])


@pytest.mark.sql
def test_when_a_domain_and_the_cloud_are_full(cloud: World) -> None:
    cloud.run("UPDATE domain_resources SET quota = 1000 WHERE domain_id = 1")
    grow(cloud, range(100, 400, 10))
    (cores,) = forecasts(cloud, "service=compute&resource=cores", DOMAIN, "germany-viewer")
    assert cores["growth_per_day"] == {"expected": 10, "lowest": 10, "highest": 10}
    (quota,) = (limit for limit in cores["limits"] if limit["limit"] == "quota")
    now = int(cloud.clock.now().timestamp())
    days = (quota["at"] - now) / DAY
    assert days == pytest.approx((1000 - cores["usage"]) / 10, abs=1.5)
    assert quota["earliest"] == pytest.approx(quota["at"], abs=2)
    ram = next(each for each in forecasts(cloud, "", DOMAIN) if each["resource"] == "ram")
    assert all("at" not in limit for limit in ram["limits"]), "no end in sight"
    found = forecasts(cloud)
    assert found[0]["resource"] == "cores", "what is full first comes first"
    assert found[0]["limits"][0]["limit"] == "capacity"


def test_forecasts_of_zones(cloud: World) -> None:
    grow(cloud, range(100, 180, 10))
    zones = forecasts(cloud, "resource=cores&service=compute&per_az", DOMAIN)
    assert "az-one" in {each["availability_zone"] for each in zones}
    assert all(limit["limit"] != "quota" for each in zones for limit in each["limits"])


@pytest.mark.sql
@pytest.mark.parametrize(
    "path", ["/v1/usage-history", f"{DOMAIN}/usage-history?per_az", "/v1/forecast", f"{DOMAIN}/forecast"]
)
def test_the_number_of_queries_is_fixed(cloud: World, path: str, queries: list[Any]) -> None:
    grow(cloud, range(10))
    queries.clear()
    cloud.get(path)
    assert 0 < len(queries) <= 6
