"""`limes usage history` and `limes forecast list`."""

import pytest
from limes_osc.usage import _ahead

from tests.osc.client import User
from tests.osc.conftest import Cloud, Login

DAY = 86400


def test_days_of_a_domain(cloud: Cloud, login: Login) -> None:
    cloud.grow(10)
    days = login("germany-viewer").json("usage history --domain germany --resource cores --days 3")
    assert [each["date"] for each in days] == ["2025-12-30", "2025-12-31", "2026-01-01"]
    first, second, third = (each["used"] for each in days)
    assert (second - first, third - second) == (1, 1)
    assert all(each["quota"] == 100 and each["capacity"] is None for each in days)
    table = login("cloud-admin").must("usage history --all-domains --resource cores --granularity month")
    assert "2025-12" in table
    assert "Capacity" in table
    assert "Committed" not in table, "nothing was"
    assert "Committed" in login("cloud-admin").must("usage history --all-domains --resource cores -c Committed")


def test_ranges(cloud: Cloud, admin: User) -> None:
    cloud.grow(10)
    found = admin.json("usage history --all-domains --resource cores --from 2025-12-24 --until 2025-12-26")
    assert [each["date"] for each in found] == ["2025-12-24", "2025-12-25"]
    zones = admin.json("usage history --all-domains --resource cores --per-az --days 1")
    assert {each["az"] for each in zones} >= {"az-one"}
    assert "expected a time after `from`" in admin.refused(
        "usage history --all-domains --from 2025-12-24 --until 2025-12-23"
    )


def test_a_forecast(cloud: Cloud, login: Login) -> None:
    cloud.grow(10)
    viewer = login("germany-viewer")
    (quota, *_) = viewer.json("forecast list --domain germany --resource cores")
    assert (quota["limit"], quota["amount"], quota["growth_per_day"], quota["forecast"]) == (
        "quota",
        100,
        1,
        "expected",
    )
    table = viewer.must("forecast list --domain germany --resource cores")
    assert "weeks" in table
    assert "no end in sight" in viewer.must("forecast list --domain germany --resource ram")


@pytest.mark.parametrize(("days", "words"), [(3, "needs 4 more days"), (6, "needs 1 more day ")])
def test_a_forecast_that_needs_more_days(cloud: Cloud, admin: User, days: int, words: str) -> None:
    cloud.grow(days)
    assert words in admin.must("forecast list --all-domains --resource cores")


def test_when_is_my_quota_full(cloud: Cloud, login: Login) -> None:
    """By default, of the project or the domain of the token."""
    reader = login("berlin-reader")
    found = reader.json("forecast list --resource cores")
    assert [(each["limit"], each["amount"], each["forecast"]) for each in found] == [("quota", 20, "unknown")]
    assert "needs 7 more days" in reader.must("forecast list --resource cores")
    domain = login("germany-viewer")
    assert domain.json("forecast list --project berlin --resource cores") == found
    cloud.grow(10)
    assert domain.json("forecast list --resource cores")[0]["growth_per_day"] == 1


def test_a_newcomer_gets_hours(cloud: Cloud, admin: User) -> None:
    cloud.grow(0)
    (now,) = admin.json("usage history --all-domains --resource cores")
    assert now["date"] == "2026-01-01T00:00:00Z"
    (today,) = admin.json("usage history --all-domains --resource cores --granularity day")
    assert today["date"] == "2026-01-01"


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (-1, "in 0 days"),
        (1, "in 1 day"),
        (13, "in 13 days"),
        (14, "in 2 weeks"),
        (60, "in 9 weeks"),
        (61, "in 2 months"),
        (729, "in 24 months"),
        (730, "in 2 years"),
    ],
)
def test_how_far_ahead(days: int, words: str) -> None:
    assert _ahead(days * DAY, 0) == words
