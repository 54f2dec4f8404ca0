"""Every page as each role sees it: nobody is shut out by it, and it fits on a phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.browser import DESKTOP, PHONE, OpenPage
from tests.e2e.cloud import (
    ACME,
    ACME_ADMIN,
    CAMPUS,
    CLOUD_ADMIN,
    CLOUD_VIEWER,
    LIBRARY,
    SCHOOL,
    SHOP,
    SHOP_ADMIN,
    SHOP_MEMBER,
    DashboardCloud,
)
from tests.support.levels import few_of

DOMAIN, PROJECT = f"/ui/domains/{ACME}", f"/ui/domains/{ACME}/projects/{SHOP}"

PAGES = [
    (CLOUD_ADMIN, "/ui/cloud", "Cloud"),
    (CLOUD_ADMIN, "/ui/domains", "Domains"),
    (CLOUD_ADMIN, "/ui/projects", "Projects"),
    (CLOUD_VIEWER, "/ui/commitments", "Commitments"),
    (CLOUD_VIEWER, "/ui/inconsistencies", "Inconsistencies"),
    (CLOUD_VIEWER, "/ui/scrape-errors", "Scrape errors"),
    (CLOUD_VIEWER, "/ui/full", "Quotas nearly full"),
    (CLOUD_VIEWER, "/ui/expiring", "Commitments ending soon"),
    (CLOUD_VIEWER, "/ui/usage", "Usage over time"),
    (CLOUD_VIEWER, "/ui/usage-report", "Usage report"),
    (CLOUD_VIEWER, "/ui/requests", "Requests for quota"),
    (CLOUD_VIEWER, "/ui/alerts", "Alerts"),
    (CLOUD_VIEWER, "/ui/changes?period=all", "Changes"),
    (ACME_ADMIN, DOMAIN, "acme domain"),
    (ACME_ADMIN, f"{DOMAIN}?show=full", "acme domain"),
    (ACME_ADMIN, f"{DOMAIN}/full", "Quotas nearly full acme"),
    (ACME_ADMIN, f"{DOMAIN}/expiring", "Commitments ending soon acme"),
    (ACME_ADMIN, f"{DOMAIN}/usage", "Usage over time acme"),
    (ACME_ADMIN, f"{DOMAIN}/usage-report", "Usage report acme"),
    (ACME_ADMIN, f"{DOMAIN}/backends", "Backends acme"),
    (ACME_ADMIN, f"{DOMAIN}/projects", "Projects of acme"),
    (ACME_ADMIN, f"{DOMAIN}/quota", "Set quota acme"),
    (ACME_ADMIN, f"{DOMAIN}/history?resource=compute/cores", "History acme"),
    (ACME_ADMIN, f"{DOMAIN}/changes?period=all", "Changes acme"),
    (ACME_ADMIN, f"{DOMAIN}/requests", "Requests for quota acme"),
    (ACME_ADMIN, f"{DOMAIN}/requests/new", "Request more quota acme"),
    (ACME_ADMIN, f"{DOMAIN}/alerts", "Alerts acme"),
    (ACME_ADMIN, "/ui/notifications", "My notifications"),
    (SHOP_ADMIN, "/ui/notifications", "My notifications"),
    (SHOP_MEMBER, PROJECT, "shop project"),
    (SHOP_MEMBER, f"{PROJECT}/requests", "Requests for quota shop"),
    (SHOP_MEMBER, f"{PROJECT}/requests/new", "Request more quota shop"),
    (SHOP_MEMBER, f"{PROJECT}/alerts", "Alerts shop"),
    (SHOP_MEMBER, f"{PROJECT}/quota", "Set quota shop"),
    (SHOP_MEMBER, f"{PROJECT}/history", "History shop"),
    (SHOP_MEMBER, f"{PROJECT}/changes", "Changes shop"),
    (SHOP_MEMBER, f"{PROJECT}/commitments", "Commitments shop"),
    (SHOP_MEMBER, f"{PROJECT}/utilisation", "Utilisation shop"),
    (SHOP_MEMBER, f"{PROJECT}/expiring", "Commitments ending soon shop"),
    (SHOP_MEMBER, f"{PROJECT}/usage", "Usage over time shop"),
    (SHOP_MEMBER, f"{PROJECT}/usage-report", "Usage report shop"),
    # who comes by address to what is below, sees names, too
    (CLOUD_ADMIN, f"{PROJECT}/alerts", "Alerts shop"),
    (CLOUD_ADMIN, f"{PROJECT}/usage", "Usage over time shop"),
    (ACME_ADMIN, f"{PROJECT}/usage-report", "Usage report shop"),
    (ACME_ADMIN, f"{PROJECT}/expiring", "Commitments ending soon shop"),
    (ACME_ADMIN, f"{PROJECT}/requests", "Requests for quota shop"),
    (CLOUD_ADMIN, "/ui/no/such/page", "No such page"),
]


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        pytest.param("light", DESKTOP, id="desktop-light"),
        pytest.param("dark", PHONE, id="phone-dark", marks=pytest.mark.long),
    ],
)
def test_everybody_can_use_every_page(open_as: OpenPage, scheme: str, size: dict[str, int]) -> None:
    """It takes long because it opens all pages, and looks at every element of each."""
    pages = {}
    for token, path, title in PAGES:
        if token not in pages:
            pages[token] = open_as(token, color_scheme=scheme, viewport=size)
        page = pages[token]
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        words = (
            " · ".join(re.split(" (?=acme$|shop$|domain$|project$)", title)) if not title.endswith("of acme") else title
        )
        expect(page).to_have_title(f"{words} · Test cloud")
        expect(page.get_by_text("Loading…")).to_have_count(0)
        assert (path, violations(page)) == (path, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], path


@pytest.mark.parametrize(
    "path", few_of([f"/ui/domains/{SCHOOL}", f"/ui/domains/{SCHOOL}/projects/{LIBRARY}", "/ui/domains"], 1)
)
def test_what_is_not_for_a_role_says_so(open_as: OpenPage, path: str) -> None:
    page = open_as(SHOP_MEMBER, viewport=PHONE)
    page.goto(path)
    expect(page.get_by_role("alert").filter(has_text="Not for your role")).to_contain_text("Carla has member on shop")
    # what may not be seen is not linked to
    hrefs = page.locator("a[href*='/domains']").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert [one for one in hrefs if not one.startswith(PROJECT)] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert violations(page) == []
    page.get_by_role("link", name="Go to your own start page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("shop project")


def test_thousands_of_projects_are_sorted_and_searched(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN)
    page.goto(f"/ui/domains/{CAMPUS}/projects?resource=compute/ram")
    expect(page.get_by_text("1,200 in all")).to_be_visible()
    rows = page.locator("tbody tr:not(.gap)")
    assert rows.count() < 60
    expect(rows.first).to_contain_text("lab-0000")
    for _ in range(2):
        page.get_by_role("button", name="Project").click()
    expect(page.get_by_role("columnheader", name="Project")).to_have_attribute("aria-sort", "descending")
    expect(rows.first).to_contain_text("lab-1199")
    page.locator(".table-box").evaluate("box => box.scrollTo(0, 30000)")
    expect(page.get_by_role("rowheader", name="lab-0517")).to_be_visible()
    page.get_by_label("Search").fill("lab-07")
    expect(page.get_by_text("100 of 1,200")).to_be_visible()
    page.get_by_label("Search").fill("LAB-0742")
    page.get_by_role("link", name="lab-0742").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("lab-0742 project")
    page.go_back()
    expect(page.get_by_label("Resource")).to_have_value("compute/ram")


@pytest.mark.long
def test_the_keyboard_reaches_everything(open_as: OpenPage) -> None:
    page = open_as(SHOP_MEMBER)
    # all is there, and what a new page does with the focus is done
    expect(page.locator("summary.resource").first).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("Tab")
    seen = []
    for _ in range(12):
        seen.append(page.evaluate("document.activeElement.className + '|' + document.activeElement.name"))
        page.keyboard.press("Tab")
    assert any(one.startswith("resource") for one in seen), seen
    page.locator("summary.resource").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Availability zones of Virtual cores")).to_be_visible()


@pytest.mark.long
def test_light_and_dark_is_remembered(open_as: OpenPage) -> None:
    page = open_as(SHOP_MEMBER, color_scheme="light")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    for _ in range(2):
        page.get_by_role("button", name="Colours").click()
    assert page.evaluate(ground) != light
    page.reload()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert page.evaluate(ground) != light
    assert page.evaluate("JSON.stringify({...localStorage})") == '{"limes-theme":"dark"}'


@pytest.mark.long
def test_what_was_used_of_commitments_day_by_day(open_as: OpenPage, cloud: DashboardCloud) -> None:
    cloud.use_commitments("shop", "west-2", days=3, used=5)
    cloud.use_commitments("shop", "west-1", days=3, used=15)
    page = open_as(SHOP_MEMBER)
    page.goto(f"{PROJECT}/utilisation")
    row = page.get_by_role("row", name="Virtual cores west-2")
    expect(row.get_by_role("cell").nth(2)).to_have_text("5")  # used
    row.get_by_role("button", name="Days of Virtual cores in west-2").click()
    days = page.get_by_role("region", name="Virtual cores in west-2", exact=True)
    expect(days.get_by_role("img", name="Use and commitments of Virtual cores in west-2")).to_be_visible()
    expect(days).to_contain_text("5 were in use all day on nine days of ten")
    days.get_by_text("The figures").click()
    figures = days.get_by_role("region", name="Days of Virtual cores in west-2")
    expect(figures.get_by_role("row")).to_have_count(4)
    with page.expect_download() as download:
        days.get_by_role("button", name="Export CSV").click()
    lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "Day (UTC),Committed,Used,Unused,Least used,Most used"
    assert len(lines) == 4
    assert violations(page) == []
