"""In and out: sample identities, tokens that end, and where the token is kept."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage, Watched, ended_session
from tests.e2e.cloud import ACME, ACME_ADMIN, CLOUD_ADMIN, SHOP, SHOP_ADMIN

PROJECT = f"/ui/domains/{ACME}/projects/{SHOP}"


def test_a_sample_identity_is_one_click_away(watched: Callable[..., Watched]) -> None:
    page = watched().page
    page.goto("/ui")
    expect(page.get_by_role("button", name="Bert")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Bert").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("shop")
    expect(page).to_have_url(re.compile(f"{PROJECT}$"))
    assert violations(page) == []


@pytest.mark.long
def test_a_wrong_token_is_refused_in_words(watched: Callable[..., Watched]) -> None:
    page = watched().page
    page.goto("/ui")
    page.get_by_label("Token").fill("nobody")
    page.get_by_role("button", name="Sign in with this token").click()
    expect(page.get_by_role("alert")).to_contain_text("the token is none of the sample's")
    assert violations(page) == []


@pytest.mark.long
def test_reloads_keep_the_session_but_no_script_can_read_it(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN)
    expect(page.get_by_role("heading", level=1)).to_contain_text("shop")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("shop")
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert kept == '[{},{},""]'
    (cookie,) = page.context.cookies(page.url.partition("/ui")[0] + "/ui/session")
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/ui/session")


def test_a_token_that_has_ended_leads_back_to_the_same_page(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN, PROJECT)
    expect(page.get_by_role("heading", level=1)).to_contain_text("shop")
    with ended_session(page):
        page.get_by_role("link", name="Overview").first.click()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    page.unroute_all(behavior="wait")
    here = page.url
    page.get_by_role("button", name="Ruth").click()
    expect(page.get_by_role("main")).to_be_visible()
    assert page.url == here


@pytest.mark.long
def test_signing_out_forgets_everything(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN)
    page.locator(".menu summary").click()
    assert violations(page) == []
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You have signed out.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Bert")).to_be_visible()
    assert page.context.cookies() == []


@pytest.mark.long
def test_who_goes_on_before_the_first_page_is_there_is_not_taken_back(watched: Callable[..., Watched]) -> None:
    """The navigation is there first. Neither what the user may do nor the code of the chosen page has come yet."""
    page = watched().page
    rights: list[Route] = []
    code: list[Route] = []
    page.route("**/v1/rights*", lambda route: rights.append(route))
    page.route("**/Projects*.js", lambda route: code.append(route))
    page.goto("/ui")
    page.get_by_label("Token").fill(ACME_ADMIN)
    page.get_by_role("button", name="Sign in with this token").click()
    nav = page.get_by_role("navigation", name="Main")
    nav.get_by_role("link", name="Projects").click()
    for held in rights:
        held.continue_()
    page.unroute("**/v1/rights*")
    expect(nav.get_by_role("link", name="Set quota")).to_be_visible()
    for held in code:
        held.continue_()
    page.unroute("**/Projects*.js")
    expect(page.get_by_role("heading", level=1)).to_have_text("Projects of acme")


@pytest.mark.long
def test_another_scope_of_the_same_user(open_as: OpenPage) -> None:
    page = open_as("acme-admin")
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Switch scope").click()
    page.get_by_role("button", name="analytics").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("analytics")


@pytest.mark.long
def test_good_news_stays_until_somebody_is_there(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN, f"{PROJECT}?do=refresh")
    page.clock.install()
    page.get_by_role("dialog").get_by_role("button", name="Refresh figures").click()
    news = page.get_by_text("Limes is reading the backends")
    expect(news).to_be_visible()
    page.clock.fast_forward(60_000)
    expect(news).to_be_visible()
    page.keyboard.press("Tab")
    page.clock.fast_forward(10_000)
    expect(news).to_be_hidden()
