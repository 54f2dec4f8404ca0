"""The palette: anything is found by typing, and reached with the keyboard alone."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import violations
from tests.e2e.browser import PHONE, OpenPage
from tests.e2e.cloud import ACME, ACME_ADMIN, CAMPUS, CLOUD_ADMIN, SHOP, SHOP_ADMIN


def opened(page: Page, text: str = "") -> Locator:
    """The field of the palette, with a text in it."""
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Project, domain, resource or page")
    expect(field).to_be_focused()
    page.keyboard.type(text)
    return field


def options(page: Page) -> Locator:
    return page.get_by_role("dialog").get_by_role("option")


def test_a_project_is_found_and_opened_by_keyboard(open_as: OpenPage) -> None:
    """Among 1,204; so is one by its id, and a page."""
    page = open_as(CLOUD_ADMIN)
    field = opened(page, "SHOP")
    expect(options(page)).to_have_count(2)
    expect(options(page).first).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("2 results", exact=True)).to_be_visible()
    assert violations(page) == []
    for key, selected in (("ArrowDown", 1), ("ArrowDown", 0), ("ArrowUp", 1), ("ArrowUp", 0)):
        page.keyboard.press(key)
        option = options(page).nth(selected)
        expect(option).to_have_attribute("aria-selected", "true")
        expect(field).to_have_attribute("aria-activedescendant", option.get_attribute("id") or "")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/ui/domains/{ACME}/projects/{SHOP}$"))
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_contain_text("shop")
    opened(page, f"c{7:031}")
    expect(options(page)).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/ui/domains/{CAMPUS}/projects/c{7:031}$"))
    opened(page, "inconsis")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/ui/inconsistencies$"))


def test_escape_closes_it_and_gives_the_focus_back(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN)
    search = page.get_by_label("Search resources")
    search.focus()
    opened(page, "no such thing")
    expect(options(page)).to_have_count(0)
    expect(page.get_by_text("0 results")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(search).to_be_focused()
    button = page.get_by_role("button", name="Go to")
    button.click()
    expect(options(page).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()


@pytest.mark.long
def test_what_a_domain_admin_finds_on_a_phone(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/projects/{SHOP}", viewport=PHONE, color_scheme="dark")
    page.get_by_role("button", name="Go to").click()
    field = page.get_by_role("combobox", name="Project, domain, resource or page")
    field.fill("analytics")
    expect(options(page)).to_have_count(1)
    field.fill("lab-0001")
    expect(options(page)).to_have_count(0)
    field.fill("virtual cores")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    options(page).click()
    expect(page).to_have_url(re.compile(f"/ui/domains/{ACME}/projects/{SHOP}/usage[?]resource=compute%2Fcores$"))
    opened(page, "backends")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/ui/domains/{ACME}/backends$"))


@pytest.mark.long
def test_a_project_admin_finds_the_own_project(open_as: OpenPage) -> None:
    """And leaving what was typed asks first."""
    page = open_as(SHOP_ADMIN, f"/ui/domains/{ACME}/projects/{SHOP}/requests/new")
    page.get_by_label("Reason").fill("launch")
    page.once("dialog", lambda dialog: dialog.dismiss())
    opened(page, "shop")
    expect(options(page).first).to_contain_text("shop")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Reason")).to_have_value("launch")


@pytest.mark.long
def test_pages_are_found_where_projects_cannot_be_listed(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN)
    page.route("**/v1/projects?service=&**", lambda route: route.fulfill(status=503, body="not now"))
    opened(page, "alerts")
    expect(page.get_by_text("Projects could not be loaded: not now")).to_be_visible()
    expect(options(page)).to_have_count(1)
    page.unroute_all()
