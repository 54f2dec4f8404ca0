"""The questions that people come with, each answered within three clicks from the first page, for each role that may.

A click is one on a link, a button, or a field that does not have the focus, or the choice of an option. Typing is none.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import (
    ACME,
    ACME_ADMIN,
    ANALYTICS,
    ANALYTICS_ADMIN,
    CAMPUS,
    CLOUD_ADMIN,
    CLOUD_VIEWER,
    SHOP,
    SHOP_ADMIN,
    SHOP_MEMBER,
    STAGING,
    UNREADABLE,
    DashboardCloud,
)
from tests.support.levels import few_of

MOST_CLICKS = 3


@dataclass
class Journey:
    """A walk from the first page, and the clicks that it has taken."""

    page: Page
    clicks: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def link(self, name: str, *, exact: bool = False) -> None:
        self.click(self.page.get_by_role("link", name=name, exact=exact).first)

    def choose(self, label: str, value: str) -> None:
        self.page.get_by_label(label, exact=True).select_option(value)
        self.clicks += 1

    def type(self, field: Locator, text: str) -> None:
        expect(field).to_be_visible()
        if not field.evaluate("field => field === document.activeElement"):
            self.clicks += 1
        field.fill(text)

    def arrive(self) -> None:
        """What was asked is on the page, which everybody can use."""
        assert self.clicks <= MOST_CLICKS
        assert violations(self.page) == []


@pytest.fixture
def start(open_as: OpenPage) -> Callable[[str], Journey]:
    """`start("cloud-admin")`: on the first page of this role."""
    return lambda token: Journey(open_as(token))


@pytest.fixture(scope="module")
def ending(cloud: DashboardCloud) -> int:
    """A commitment of analytics that ends within the hour."""
    return cloud.commit_cores(ACME, ANALYTICS, "west-2", 7)


@pytest.mark.long
@pytest.mark.parametrize("token", [CLOUD_ADMIN, CLOUD_VIEWER, ACME_ADMIN])
def test_who_uses_all_the_ram(start: Callable[[str], Journey], token: str) -> None:
    way = start(token)
    way.click(way.page.locator("summary.resource").filter(has_text="ram"))
    way.link("Who uses it")
    first = way.page.locator("tbody tr:not(.gap)").first
    expect(first).to_contain_text(re.compile("analytics.*150 GiB"))
    way.arrive()


@pytest.mark.parametrize("token", few_of([ACME_ADMIN, CLOUD_VIEWER, ANALYTICS_ADMIN], 1))
def test_what_expires_soon(start: Callable[[str], Journey], ending: int, token: str) -> None:
    way = start(token)
    expect(way.page.get_by_role("link", name="Commitments ending")).to_contain_text(re.compile("The first ends"))
    way.link("Commitments ending")
    expect(way.page.get_by_role("row", name="7 Virtual cores of analytics")).to_contain_text(
        re.compile("west-2.*1 hour")
    )
    way.arrive()
    way.link("7 Virtual cores of analytics")
    expect(way.page.get_by_role("dialog")).to_contain_text("7")
    way.arrive()


@pytest.mark.parametrize("token", few_of([CLOUD_VIEWER, ACME_ADMIN, ANALYTICS_ADMIN], 1))
def test_how_did_usage_grow(start: Callable[[str], Journey], cloud: DashboardCloud, token: str) -> None:
    cloud.use_commitments("analytics", "west-1", days=9, used=10)
    way = start(token)
    way.link("Usage over time")
    way.choose("Resource", "compute/cores")
    expect(way.page.get_by_text(re.compile("Usage (grew|fell|is what it was)"))).to_be_visible()
    expect(way.page.get_by_role("img", name="Use of Virtual cores day by day")).to_be_visible()
    expect(way.page.get_by_role("region", name="Use of Virtual cores day by day").get_by_role("row")).to_have_count(10)
    way.arrive()


@pytest.mark.long
def test_when_will_it_be_full(start: Callable[[str], Journey], cloud: DashboardCloud) -> None:
    cloud.forecast_cores(1)
    way = start(CLOUD_VIEWER)
    way.link("Usage over time")
    way.choose("Resource", "compute/cores")
    expect(
        way.page.get_by_text(re.compile(r"All capacity \(.+\) is expected to be used in about \d+ \w+ \(.+ to .+\)"))
    ).to_be_visible()
    cloud.forecast_cores(None)
    way.page.reload()
    expect(way.page.get_by_text("A forecast needs a week of data: 7 more days.")).to_be_visible()
    way.arrive()


@pytest.mark.long
def test_which_backends_fail(start: Callable[[str], Journey], cloud: DashboardCloud) -> None:
    with cloud.failing_capacitor("no route"):
        way = start(CLOUD_VIEWER)
        banner = way.page.get_by_role("region", name="Failing backends")
        expect(banner).to_contain_text("Service storage has been failing")
        expect(banner).to_contain_text("Capacitor all has failed")
        way.arrive()
        way.link("Why, and in which projects")
        expect(way.page.get_by_text("no route")).to_be_visible()
        way.click(way.page.get_by_role("button", name="the quota is 'many'"))
        expect(way.page.get_by_role("dialog")).to_contain_text("storage cannot be scraped")
        way.arrive()


@pytest.mark.long
def test_which_backends_fail_in_a_domain_and_in_a_project(open_as: OpenPage) -> None:
    page = open_as(CLOUD_VIEWER, f"/ui/domains/{CAMPUS}")
    expect(page.get_by_role("region", name="Failing backends")).to_contain_text("in 2 of 1,200 projects")
    page.goto(f"/ui/domains/{CAMPUS}/projects/{UNREADABLE[0]}")
    expect(page.get_by_role("region", name="Failing backends")).to_contain_text("The backend of service storage")
    way = Journey(page)
    expect(page.get_by_role("link", name="Failing backends 1")).to_be_visible()
    way.link("Failing backends")
    expect(page.get_by_role("heading", name="storage")).to_be_visible()
    expect(page.get_by_role("heading", name="compute")).to_have_count(0)
    way.arrive()


@pytest.mark.long
def test_why_was_it_refused(start: Callable[[str], Journey]) -> None:
    """A quota that is too high: the same words that the API refuses it with."""
    way = start(SHOP_ADMIN)
    way.link("Set quota")
    way.type(way.page.get_by_label("Virtual cores"), "5000")
    expect(way.page.get_by_text("1 of 1 would be refused.")).to_be_visible()
    expect(way.page.locator("[data-state=refused] .verdict")).to_contain_text("not allowed to raise")
    way.arrive()


@pytest.mark.long
def test_why_was_it_refused_to_a_domain_admin(start: Callable[[str], Journey]) -> None:
    way = start(ACME_ADMIN)
    way.link("Projects", exact=True)
    way.click(way.page.get_by_role("button", name="Set quota of analytics"))
    way.type(way.page.get_by_role("dialog").get_by_label("cores"), "5000")
    expect(way.page.get_by_role("dialog").locator(".verdict")).to_contain_text("domain quota exceeded: at most")
    way.arrive()


@pytest.mark.long
@pytest.mark.parametrize("token", [SHOP_ADMIN, SHOP_MEMBER])
def test_why_a_quota_is_what_it_is(start: Callable[[str], Journey], token: str) -> None:
    """Who may not set it sees the bounds, too."""
    way = start(token)
    way.click(way.page.locator("summary.resource").filter(has_text="Virtual cores"))
    way.link("History and explanation")
    expect(way.page.get_by_role("main")).to_contain_text("You could raise it to 40")
    way.arrive()


@pytest.mark.parametrize("token", few_of([ACME_ADMIN, CLOUD_ADMIN], 1))
def test_give_20_more_cores(start: Callable[[str], Journey], cloud: DashboardCloud, token: str) -> None:
    path = f"/v1/domains/{ACME}/projects/{STAGING}"
    cloud.put_quota(path, compute={"cores": 1})
    way = start(token)
    way.link("Projects", exact=True)
    way.click(way.page.get_by_role("button", name="Set quota of shop-staging"))
    field = way.page.get_by_role("dialog").get_by_label("cores")
    way.type(field, "+20")
    save = way.page.get_by_role("button", name="Save quota")
    expect(save).to_be_enabled()
    field.press("Enter")
    expect(way.page.get_by_text("Quota of shop-staging saved.")).to_be_visible()
    way.arrive()
    assert cloud.resource(path)["quota"] == 21
    cloud.put_quota(path, compute={"cores": 0})


@pytest.mark.long
@pytest.mark.parametrize("token", [SHOP_ADMIN, ANALYTICS_ADMIN])
def test_buy_for_next_month(start: Callable[[str], Journey], cloud: DashboardCloud, token: str) -> None:
    way = start(token)
    way.link("Buy commitment")
    dialog = way.page.get_by_role("dialog")
    expect(dialog.get_by_label("Amount")).to_be_focused()  # a moment after it is there
    way.type(dialog.get_by_label("Amount"), "3")
    way.click(dialog.get_by_role("radio", name="later"))
    date = dialog.locator("input[type=datetime-local]")
    starts = datetime.now() + timedelta(days=30)
    way.type(date, starts.strftime("%Y-%m-%dT%H:%M"))
    expect(dialog.get_by_role("button", name=re.compile("^Plan 3"))).to_be_enabled()
    date.press("Enter")
    expect(way.page.get_by_role("dialog")).to_have_count(0)
    assert way.clicks <= MOST_CLICKS
    project = SHOP if token == SHOP_ADMIN else ANALYTICS
    found = cloud.request("GET", f"/v1/domains/{ACME}/projects/{project}/commitments").json()["commitments"]
    (planned,) = (one for one in found if one["status"] == "planned" and one["amount"] == 3)
    assert abs(planned["confirm_by"] - starts.timestamp()) < 86400
    removed = cloud.request("DELETE", f"/v1/domains/{ACME}/projects/{project}/commitments/{planned['id']}")
    assert removed.status_code == 204


@pytest.mark.long
def test_who_may_not_buy_is_not_offered_it(open_as: OpenPage) -> None:
    page = open_as(SHOP_MEMBER)
    expect(page.get_by_role("link", name="Commitments ending")).to_be_visible()
    expect(page.get_by_role("link", name="Buy commitment")).to_have_count(0)


@pytest.mark.parametrize("token", few_of([CLOUD_ADMIN, ACME_ADMIN, SHOP_MEMBER], 1))
def test_each_tile_leads_to_the_list_that_it_counts(open_as: OpenPage, token: str) -> None:
    page = open_as(token)
    first = page.url
    tiles = page.get_by_role("list", name="What needs attention").get_by_role("listitem")
    number = {CLOUD_ADMIN: 6, ACME_ADMIN: 5, SHOP_MEMBER: 3}[token]
    expect(tiles.get_by_role("link")).to_have_count(number)
    for index in range(number):
        tile = tiles.nth(index).get_by_role("link")
        count = int(tile.locator("strong").inner_text().split(",")[0])
        tile.click()
        expect(page.get_by_text("Loading…")).to_have_count(0)
        assert page.url != first
        if "show=full" in page.url:
            expect(page.locator("summary.resource")).to_have_count(count)
        elif page.url.endswith(("/full", "/expiring")):
            expect(page.get_by_role("main").locator("tbody tr:not(.gap)")).to_have_count(count)
        page.goto(first)
        expect(tiles.get_by_role("link")).to_have_count(number)
