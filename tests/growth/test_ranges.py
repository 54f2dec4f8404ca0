"""Since when there are data, and hours, days or months that suit them."""

from typing import Any

import pytest

from limes.commitments.reading import sample_utilisation
from tests.api.world import World
from tests.commitments.commitments import PATHS, commit
from tests.growth.test_growth import DAY, DOMAIN, HOUR, grow, history, sample, use
from tests.metering.test_reports import JANUARY


def auto(world: World, query: str = "", path: str = "/v1") -> tuple[str, list[str]]:
    """The granularity that was chosen for cores, and the dates."""
    answer = world.get(f"{path}/usage-history?granularity=auto&service=compute&resource=cores&{query}")
    word = answer["granularity"]
    return word, [point["date"] for each in answer["usage_history"] for point in each[f"{word}s"]]


def since(world: World, resource: str = "cores", path: str = "/v1") -> int:
    (found,) = world.get(f"{path}/usage-history?days=1&service=compute&resource={resource}")["usage_history"]
    return int(found["since"])


def test_a_newcomer_gets_hours(cloud: World) -> None:
    assert auto(cloud) == ("hour", [])
    cloud.clock.advance(22 * HOUR)
    for _ in range(4):
        sample(cloud)
        cloud.clock.advance(HOUR)
    hours = ["2026-01-01T22:00:00Z", "2026-01-01T23:00:00Z", "2026-01-02T00:00:00Z", "2026-01-02T01:00:00Z"]
    assert auto(cloud) == ("hour", hours)
    assert since(cloud) == JANUARY + 22 * HOUR


@pytest.mark.sql
def test_after_a_day_there_are_days_and_after_retention_months(cloud: World) -> None:
    grow(cloud, range(3))
    assert auto(cloud) == ("day", [f"2026-01-0{day}" for day in (1, 2, 3, 4)])
    assert auto(cloud, "days=1")[0] == "hour"
    assert auto(cloud, "from=2026-01-02T10:00:00Z&until=2026-01-02T18:00:00Z") == ("hour", ["2026-01-02T12:00:00Z"])
    cloud.clock.advance(40 * DAY)
    sample(cloud)
    assert len(auto(cloud)[1]) == 1, "30 days at first"
    assert len(auto(cloud, "days=60")[1]) == 5
    cloud.clock.advance(800 * DAY)
    sample(cloud)
    assert auto(cloud, "from=2026-01-01") == ("month", ["2026-01", "2026-02", "2028-04"])
    assert auto(cloud, "from=2024-01-01&until=2025-01-01") == ("month", [])
    assert since(cloud) == JANUARY, "as exactly as it is kept"


def test_what_is_added_later_has_its_own_beginning(cloud: World) -> None:
    cloud.run("UPDATE project_resources SET usage = 0")
    cloud.run("DELETE FROM project_az_resources")
    cloud.run("UPDATE domain_resources SET quota = 0")
    sample(cloud)
    cloud.clock.advance(5 * DAY + 2 * HOUR)
    use(cloud, 10)
    sample(cloud)
    assert since(cloud, path=DOMAIN) == JANUARY + 5 * DAY + 2 * HOUR
    assert auto(cloud, path=DOMAIN) == ("hour", ["2026-01-06T02:00:00Z"])
    assert since(cloud) == JANUARY, "there was capacity"


def test_what_was_measured_before_the_first_sample_counts(cloud: World) -> None:
    commit(cloud, amount=10, duration="1 year")
    sample_utilisation(cloud.limes)
    cloud.clock.advance(9 * DAY)
    sample_utilisation(cloud.limes)
    for path in ("/v1", DOMAIN, PATHS["berlin"]):
        assert since(cloud, path=path) == JANUARY, "no sample so far"
    sample(cloud)
    assert since(cloud) == since(cloud, path=DOMAIN) == JANUARY
    assert auto(cloud) == ("day", ["2026-01-01", "2026-01-10"])


def test_the_first_answer_of_all_is_empty(cloud: World) -> None:
    found: Any = cloud.get("/v1/usage-history?granularity=auto")
    assert found == {"granularity": "hour", "usage_history": []}
    assert history(cloud) == []
