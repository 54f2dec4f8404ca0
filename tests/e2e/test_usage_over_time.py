"""Usage over time: a newcomer's first chart, ranges for which there are data, and when a project's quota is full.

A cloud of its own, of which the collector has seen nothing yet.
"""

import re
import sqlite3
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from limes.backends import ResourceDef, ServiceDef
from limes.catalog.catalog import Catalog
from limes.db.engine import Engine
from limes.growth.sample import sample_growth
from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import ACME, CLOUD_VIEWER, FEW_PROJECTS, SHOP, SHOP_MEMBER, DashboardCloud, NewCloud
from tests.support.clock import FrozenClock
from tests.support.limes import make_limes
from tests.support.processes import eventually

pytestmark = pytest.mark.long

HOUR, DAY = 3600, 86400
PROJECT = f"/ui/domains/{ACME}/projects/{SHOP}/usage"
STORAGE = "resource=storage/capacity"
SERVICES = [ServiceDef("storage", "storage", {"capacity": ResourceDef("capacity")})]


@pytest.fixture(scope="module")
def cloud(new_cloud: NewCloud) -> Iterator[DashboardCloud]:
    """This file's own."""
    with new_cloud(**FEW_PROJECTS, resource_behavior=[]) as made:
        yield made.start(fill=False)


def sample(cloud: DashboardCloud, *ages: float) -> None:
    """What collectors have sampled of the present usage, so many seconds ago."""
    engine = Engine(f"sqlite:///{cloud.folder}/limes.db")
    for age in ages:
        clock = FrozenClock()
        clock.advance(time.time() - age - clock.now().timestamp())
        sample_growth(make_limes(engine, Catalog(["west-1", "west-2"], SERVICES), clock=clock))
    engine.close()


def ranges(page: Page) -> list[str]:
    return page.get_by_label("Over the last").locator("option").all_inner_texts()


def expect_rows(page: Page, each: str, count: int) -> None:
    table = page.get_by_role("region", name=f"Use of capacity {each} by {each}")
    expect(table.get_by_role("row")).to_have_count(1 + count)


def test_a_newcomers_first_chart_comes_by_itself_and_is_a_day(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(CLOUD_VIEWER)
    page.clock.install()
    page.goto("/ui/usage")
    expect(page.get_by_text("No usage was recorded yet")).to_be_visible()

    def is_sampled() -> bool:
        cloud.collect()
        return bool(cloud.request("GET", "/v1/usage-history").json()["usage_history"])

    eventually("the collector takes a sample soon", is_sampled)
    page.clock.fast_forward(60_000)
    # of the resource whose figures came first
    expect(page.get_by_role("img", name=re.compile("^Use of .+ hour by hour"))).to_be_visible()
    expect(page.get_by_text("averages of each hour")).to_be_visible()
    assert ranges(page) == ["day"]
    assert violations(page) == []


def test_ranges_follow_the_data(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(CLOUD_VIEWER, "/ui/usage")
    expect(page.get_by_role("img")).to_be_visible()
    for ages, offered, chosen, each in (
        ([3 * DAY, 0], ["day", "7 days"], "7", "hour"),
        ([20 * DAY, 19 * DAY, 0], ["day", "7 days", "30 days"], "30", "day"),
        ([500 * DAY, 0], ["day", "7 days", "30 days", "90 days", "365 days", "10 years"], "30", "day"),
    ):
        with sqlite3.connect(cloud.folder / "limes.db") as database:
            for table in ("growth_hours", "growth_days", "growth_months"):
                database.execute(f"DELETE FROM {table}")
        sample(cloud, *ages)
        page.goto(f"/ui/usage?{STORAGE}")
        expect(page.get_by_label("Over the last")).to_have_value(chosen)
        expect(page.get_by_role("img", name=f"Use of capacity {each} by {each}")).to_be_visible()
        assert ranges(page) == offered
    page.get_by_label("Over the last").select_option("10 years")
    expect(page.get_by_role("img", name="Use of capacity month by month")).to_be_visible()
    expect_rows(page, "month", 2)
    page.get_by_label("Over the last").select_option("day")
    expect(page.get_by_role("img", name="Use of capacity hour by hour")).to_be_visible()
    expect_rows(page, "hour", 1)
    assert violations(page) == []


def test_when_is_my_quota_full(open_as: OpenPage, cloud: DashboardCloud) -> None:
    for path, amount in ((f"/v1/domains/{ACME}", 500), (f"/v1/domains/{ACME}/projects/{SHOP}", 300)):
        cloud.put_quota(path, compute={}, storage={"capacity": amount})
    now = int(time.time())
    begun = now - now % DAY - 10 * DAY
    with sqlite3.connect(cloud.folder / "limes.db") as database:
        database.execute("UPDATE metering_state SET begun_at = ?, closed_until = ?", [begun, begun])
        database.execute("UPDATE metered_projects SET since = ?", [begun])
        database.execute("DELETE FROM usage_steps WHERE resource_name = 'capacity'")
        database.execute("DELETE FROM usage_gaps")
        database.executemany(
            "INSERT INTO usage_steps (project_uuid, service_type, resource_name, az, at, usage, recorded_at)"
            " VALUES (?, 'storage', 'capacity', 'any', ?, ?, ?)",
            [[SHOP, begun + day * DAY, 30 + 9 * day, now] for day in range(10)],
        )
    page = open_as(SHOP_MEMBER, f"{PROJECT}?{STORAGE}")
    expect(page.get_by_text("All quota (300 GiB) is expected to be used in about")).to_be_visible()
    chart = page.get_by_role("img")
    expect(chart).to_contain_text("Expected")
    expect(page.get_by_role("columnheader", name="Quota")).to_be_visible()
    page.get_by_label("Resource").select_option("compute/ram")
    expect(page.get_by_text("A forecast needs a week of data")).to_be_visible()
