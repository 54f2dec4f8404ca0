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
    page.get_by_role("link", name="Inconsistencies").click()
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
    expect(page.get_by_text("1 error in 2 projects")).to_be_visible()
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


@pytest.mark.parametrize("path", ["/ui/inconsistencies", "/ui/scrape-errors", "/ui/commitments"])
def test_other_roles_see_neither(open_as: OpenPage, path: str) -> None:
    for token in (SHOP_ADMIN, ACME_ADMIN):
        page = open_as(token, path)
        if path != "/ui/commitments":
            expect(page.get_by_role("alert")).to_contain_text("Not for your role")
        for name in ("Inconsistencies", "Scrape errors"):
            expect(page.get_by_role("link", name=name)).to_have_count(0)
        assert violations(page) == []


def test_a_failing_api_is_told_and_asked_again(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN)
    page.route(
        "**/v1/admin/scrape-errors", lambda route: route.fulfill(status=503, body="the database does not answer")
    )
    page.get_by_role("link", name="Scrape errors").click()
    expect(page.get_by_role("alert")).to_contain_text("the database does not answer")
    page.unroute("**/v1/admin/scrape-errors")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("1 error in 2 projects")).to_be_visible()


def test_a_project_says_why_figures_are_missing_and_not_what_the_backend_answered(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN, f"/ui/domains/{CAMPUS}/projects/{UNREADABLE[0]}")
    problem = page.get_by_text("the backend of service storage has been failing since")
    expect(problem).to_contain_text("there are no figures, and no quota can be set, until a scrape succeeds")
    expect(page.get_by_role("heading", name="storage")).to_be_visible()
    assert violations(page) == []
