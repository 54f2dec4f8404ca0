"""In and out: sample identities, tokens that end, and where the token is kept."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage, Watched
from tests.e2e.cloud import ACME, CLOUD_ADMIN, SHOP, SHOP_ADMIN

PROJECT = f"/ui/domains/{ACME}/projects/{SHOP}"


def test_a_sample_identity_is_one_click_away(watched: Callable[..., Watched]) -> None:
    page = watched().page
    page.goto("/ui")
    assert violations(page) == []
    page.get_by_role("button", name="Bert").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("shop")
    expect(page).to_have_url(re.compile(f"{PROJECT}$"))
    assert violations(page) == []


def test_a_wrong_token_is_refused_in_words(watched: Callable[..., Watched]) -> None:
    page = watched().page
    page.goto("/ui")
    page.get_by_label("Token").fill("nobody")
    page.get_by_role("button", name="Sign in with this token").click()
    expect(page.get_by_role("alert")).to_contain_text("the token is none of the sample's")
    assert violations(page) == []


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
    page.route("**/v1/**", lambda route: route.fulfill(status=401, body="the token is not valid"))
    page.get_by_role("link", name="Overview").first.click()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    page.unroute("**/v1/**")
    here = page.url
    page.get_by_role("button", name="Ruth").click()
    expect(page.get_by_role("main")).to_be_visible()
    assert page.url == here


def test_signing_out_forgets_everything(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN)
    page.locator(".menu summary").click()
    assert violations(page) == []
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You have signed out.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Bert")).to_be_visible()
    assert page.context.cookies() == []


def test_another_scope_of_the_same_user(open_as: OpenPage) -> None:
    page = open_as("acme-admin")
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Switch scope").click()
    page.get_by_role("button", name="analytics").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("analytics")
