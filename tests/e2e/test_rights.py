"""What somebody may not do is not offered, and never tried."""

import re

import pytest
from playwright.sync_api import Page, Response, expect

from tests.e2e.browser import OpenPage
from tests.e2e.cloud import ACME, CLOUD_VIEWER, SCHOOL, SHOP, SHOP_ADMIN, SHOP_MEMBER

PROJECT = f"/ui/domains/{ACME}/projects/{SHOP}"


def refusals(page: Page) -> list[str]:
    """From now on, what the API refuses this page."""
    found: list[str] = []

    def note(response: Response) -> None:
        if response.status in (401, 403):
            found.append(f"{response.request.method} {response.url}")

    page.on("response", note)
    return found


def shown(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("Loading…")).to_have_count(0)


def test_a_member_is_offered_only_to_propose(open_as: OpenPage) -> None:
    page = open_as(SHOP_MEMBER)
    refused = refusals(page)
    nav = page.get_by_role("navigation", name="Main")
    for path in ("", "/commitments", "/utilisation", "/changes"):
        shown(page, PROJECT + path)
        expect(nav.get_by_role("link", name="Changes")).to_be_visible()
        if path == "":
            expect(page.get_by_role("link", name="Request more", exact=True)).to_be_visible()
        for name in ("Set quota", "Refresh figures", "Buy", "Accept transfer", "Commit"):
            expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
            expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    shown(page, f"{PROJECT}/quota")
    expect(page.get_by_text("Your role may look at these quotas, not change them.")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)
    page.get_by_role("link", name="Show them").click()
    expect(page).to_have_url(re.compile(f"{PROJECT}$"))
    assert refused == []


@pytest.mark.long
def test_an_admin_of_a_project_is_offered_what_works(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN)
    refused = refusals(page)
    shown(page, PROJECT)
    expect(page.get_by_role("button", name="Refresh figures")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="Set quota")).to_be_visible()
    shown(page, f"{PROJECT}/commitments")
    expect(page.get_by_role("button", name="Buy", exact=True)).to_be_visible()
    assert refused == []


@pytest.mark.long
def test_a_viewer_of_the_cloud_is_offered_no_quota_to_set(open_as: OpenPage) -> None:
    page = open_as(CLOUD_VIEWER)
    refused = refusals(page)
    for path in ("/ui/domains", f"/ui/domains/{ACME}/projects", "/ui/inconsistencies", f"/ui/domains/{ACME}"):
        shown(page, path)
        expect(
            page.get_by_role("region").or_(page.get_by_role("list", name="Colours of the bars")).first
        ).to_be_visible()
        expect(page.get_by_role("button", name="Set quota")).to_have_count(0)
        expect(page.get_by_role("link", name="Set quota")).to_have_count(0)
    assert refused == []


@pytest.mark.long
def test_a_page_that_is_refused_leads_nowhere_else_that_is(open_as: OpenPage) -> None:
    page = open_as(SHOP_MEMBER)
    page.goto(f"/ui/domains/{SCHOOL}")
    expect(page.get_by_role("alert").filter(has_text="Not for your role")).to_contain_text("it needs the role ")
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    expect(links).to_have_count(0)
