"""Inconsistencies and scrape errors, for those who look after the cloud."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import (
    ACME_ADMIN,
    CAMPUS,
    CLOUD_ADMIN,
    CLOUD_VIEWER,
    LIBRARY,
    OVERSPENT,
    SCHOOL,
    SHOP_ADMIN,
    UNREADABLE,
    DashboardCloud,
)


@pytest.fixture(scope="module")
def drifted(cloud: DashboardCloud) -> Iterator[DashboardCloud]:
    """The storage of `library` has not heard of its new quota, and does after these tests."""
    path = f"/v1/domains/{SCHOOL}/projects/{LIBRARY}"
    with cloud.silent_storage():
        cloud.put_quota(path, storage={"capacity": 150})
    yield cloud
    cloud.put_quota(path, storage={"capacity": 100})


def test_a_cloud_admin_sees_the_three_lists(open_as: OpenPage, drifted: DashboardCloud) -> None:
    page = open_as(CLOUD_ADMIN)
    page.get_by_role("link", name="Inconsistencies", exact=True).click()
    row = page.get_by_role("row", name="campus")
    expect(row).to_contain_text(re.compile("storage/capacity.*0 GiB.*7 GiB.*\\+7 GiB"))
    assert violations(page) == []
    page.get_by_role("link", name="Projects beyond quota").click()
    expect(page.get_by_role("row", name=OVERSPENT)).to_contain_text(re.compile("campus.*compute/cores.*0.*3.*\\+3"))
    page.get_by_role("link", name="Backends differ").click()
    expect(page.get_by_role("row", name="library")).to_contain_text(re.compile("school.*150 GiB.*100 GiB.*.50 GiB"))
    page.get_by_role("searchbox").fill("nobody")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.get_by_role("searchbox").fill("lib")
    expect(page).to_have_url(re.compile("list=mismatch.*search=lib"))
    page.get_by_role("link", name="library", exact=True).click()
    expect(page).to_have_url(re.compile(f"/ui/domains/{SCHOOL}/projects/{LIBRARY}$"))


def test_scrape_errors_are_grouped_and_explained(open_as: OpenPage) -> None:
    page = open_as(CLOUD_VIEWER, "/ui/scrape-errors")
    expect(page.get_by_text("1 kind of error, 2 failing scrapes")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="the quota is 'many'").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("and 1 other")
    expect(dialog.get_by_label("To try it by hand")).to_have_value(
        f"limes plugin test storage --project {UNREADABLE[0]}"
    )
    assert violations(page) == []
    page.reload()
    page.get_by_role("dialog").get_by_role("link", name="lab-1198").click()
    expect(page).to_have_url(re.compile(f"/ui/domains/{CAMPUS}/projects/{UNREADABLE[0]}$"))


@pytest.mark.long
@pytest.mark.parametrize("path", ["/ui/inconsistencies", "/ui/scrape-errors", "/ui/commitments"])
def test_other_roles_see_neither(open_as: OpenPage, path: str) -> None:
    for token in (SHOP_ADMIN, ACME_ADMIN):
        page = open_as(token, path)
        if path != "/ui/commitments":
            expect(page.get_by_role("alert")).to_contain_text("Not for your role")
        for name in ("Inconsistencies", "Scrape errors"):
            expect(page.get_by_role("link", name=name)).to_have_count(0)
        assert violations(page) == []


@pytest.mark.long
def test_a_tile_whose_figures_do_not_come_says_so(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN, "/ui/domains")
    for path in ("**/v1/admin/scrape-status", "**/v1/inconsistencies"):
        page.route(path, lambda route: route.fulfill(status=503, body="the database does not answer"))
    page.reload()
    page.get_by_role("link", name="Overview").click()
    tiles = page.get_by_role("list", name="What needs attention").get_by_role("listitem")
    for title in ("Failing backends", "Inconsistencies"):
        expect(tiles.filter(has_text=title)).to_contain_text("Not known: the request failed")
    expect(tiles.get_by_role("link")).to_have_count(4)
    assert violations(page) == []


@pytest.mark.long
def test_a_failing_api_is_told_and_asked_again(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN)
    page.route(
        "**/v1/admin/scrape-errors", lambda route: route.fulfill(status=503, body="the database does not answer")
    )
    page.get_by_role("link", name="Scrape errors").click()
    expect(page.get_by_role("alert")).to_contain_text("the database does not answer")
    page.unroute("**/v1/admin/scrape-errors")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("1 kind of error, 2 failing scrapes")).to_be_visible()


@pytest.mark.long
def test_a_failing_capacitor_is_on_the_first_page_and_in_the_navigation(
    open_as: OpenPage, cloud: DashboardCloud
) -> None:
    with cloud.failing_capacitor("no route to https://10.1.2.3:8778"):
        page = open_as(CLOUD_ADMIN)
        banner = page.get_by_role("region", name="Failing backends")
        expect(banner).to_contain_text("Service storage has been failing in 2 of 1,204 projects since")
        expect(banner).to_contain_text(
            re.compile("Capacitor all has failed 1 minute ago; its figures are from .*2 hours")
        )
        expect(banner).not_to_contain_text("10.1.2.3")
        expect(page.get_by_role("link", name="Scrape errors 2 failing")).to_be_visible()
        assert violations(page) == []
        page.get_by_role("link", name="Failing backends").click()
        expect(page).to_have_url(re.compile("/ui/scrape-errors$"))
        expect(page.get_by_role("row", name="all capacitor")).to_contain_text("the last attempt failed")
        expect(page.get_by_text("no route to https://10.1.2.3:8778")).to_be_visible()
        assert violations(page) == []


@pytest.mark.long
def test_a_domain_sees_that_backends_fail_and_not_why(open_as: OpenPage, cloud: DashboardCloud) -> None:
    with cloud.failing_capacitor("no route to https://10.1.2.3:8778"):
        page = open_as(CLOUD_VIEWER, f"/ui/domains/{CAMPUS}/backends")
        row = page.get_by_role("row", name="storage service")
        expect(row).to_contain_text("fails in 2 of 1,200 projects since")
        expect(page.get_by_role("main")).not_to_contain_text("capacitor")
        page = open_as(ACME_ADMIN)
        page.get_by_role("link", name="Failing backends").click()
        expect(page.get_by_role("row", name="storage service")).to_contain_text("works")
        assert violations(page) == []


@pytest.mark.long
def test_empty_lists_say_when_somebody_looked(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN)
    found = page.request.get("/v1/inconsistencies", headers={"X-Auth-Token": CLOUD_ADMIN}).json()["inconsistencies"]
    lists = {**found, "project_quota_mismatch": []}
    page.route("**/v1/inconsistencies", lambda route: route.fulfill(json={"inconsistencies": lists}))
    page.route("**/v1/admin/scrape-errors", lambda route: route.fulfill(json={"scrape_errors": []}))
    page.get_by_role("link", name="Inconsistencies", exact=True).click()
    page.get_by_role("link", name="Backends differ 0").click()
    expect(page.get_by_role("main")).to_contain_text(
        re.compile("Every backend enforces the quota that Limes has. Last checked (just now|.* ago)")
    )
    lists = {key: [] for key in found}
    page.get_by_role("button", name="Reload").click()
    expect(page.get_by_role("main")).to_contain_text(re.compile("No inconsistencies. Last checked (just now|.* ago)"))
    page.get_by_role("link", name="Scrape errors").click()
    expect(page.get_by_role("main")).to_contain_text(re.compile("Every scrape of a project succeeds. Last checked"))
    assert violations(page) == []


@pytest.mark.long
def test_a_project_says_why_figures_are_missing_and_not_what_the_backend_answered(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN, f"/ui/domains/{CAMPUS}/projects/{UNREADABLE[0]}")
    problem = page.get_by_text("the backend of service storage has been failing since")
    expect(problem.first).to_contain_text("there are no figures, and no quota can be set, until a scrape succeeds")
    expect(page.get_by_role("heading", name="storage")).to_be_visible()
    assert violations(page) == []
