"""Nothing is lost, and nothing hangs: when a session ends, a page is left, Limes is upgraded, or a part does not answer."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from limes.ui import pages
from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage, ended_session
from tests.e2e.cloud import ACME, ACME_ADMIN, CLOUD_ADMIN, SHOP, SHOP_ADMIN

DOMAIN = f"/ui/domains/{ACME}"
NEW_REQUEST = f"{DOMAIN}/projects/{SHOP}/requests/new"
WHY = "a sale in December"


def fill(page: Page) -> None:
    page.get_by_label("ram").fill("+20 GiB")
    page.get_by_label("Reason").fill(WHY)
    expect(page.get_by_role("button", name="Send the request")).to_be_enabled()


def end_session(page: Page) -> None:
    """The next answer says that the token is not valid any more."""
    with ended_session(page):
        page.get_by_role("button", name="Send the request").click()
    expect(page.get_by_text("Your session has ended. Sign in again to continue where you left off.")).to_be_visible()
    page.unroute_all(behavior="wait")


def sign_in_again(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in with this token").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Request more quota")


@pytest.mark.parametrize(
    ("token", "reason", "ram"),
    [
        pytest.param(SHOP_ADMIN, WHY, "+20 GiB", id="the same user"),
        pytest.param(ACME_ADMIN, "", "", id="somebody else", marks=pytest.mark.long),
    ],
)
def test_what_was_typed_is_there_after_the_same_user_has_signed_in_again(
    open_as: OpenPage, token: str, reason: str, ram: str
) -> None:
    page = open_as(SHOP_ADMIN, NEW_REQUEST)
    fill(page)
    end_session(page)
    sign_in_again(page, token)
    expect(page.get_by_label("Reason")).to_have_value(reason)
    expect(page.get_by_label("ram")).to_have_value(ram)


@pytest.mark.long
def test_what_was_typed_into_a_dialog_is_there_again_too(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN, f"{DOMAIN}/projects/{SHOP}/commitments?do=buy&of=compute/ram")
    page.get_by_role("dialog").get_by_label("Amount").fill("3 GiB")
    with ended_session(page):
        page.get_by_role("dialog").get_by_label("Amount").fill("4 GiB")  # is checked at once
    expect(page.get_by_text("Your session has ended.")).to_be_visible()
    page.unroute_all(behavior="wait")
    page.get_by_label("Token").fill(SHOP_ADMIN)
    page.get_by_role("button", name="Sign in with this token").click()
    expect(page.get_by_role("dialog").get_by_label("Amount")).to_have_value("4 GiB")


@pytest.mark.long
def test_leaving_a_page_with_something_typed_asks(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Requests").click()
    page.get_by_role("main").get_by_role("link", name="Request more").click()
    expect(page).to_have_url(re.compile(f"{NEW_REQUEST}$"))
    asked: list[str] = []
    answers = {"leave": False}

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        if answers["leave"]:
            dialog.accept()
        else:
            dialog.dismiss()

    page.on("dialog", answer)
    overview = page.get_by_role("navigation", name="Main").get_by_role("link", name="Overview")
    fill(page)
    overview.click()
    page.go_back()
    expect(page).to_have_url(re.compile(f"{NEW_REQUEST}$"))
    expect(page.get_by_label("Reason")).to_have_value(WHY)
    assert asked == ["Leave this page? What you have typed is not saved."] * 2
    answers["leave"] = True
    overview.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("shop project")
    page.get_by_role("main").get_by_role("link", name="Set quota").click()  # where nothing is typed, nothing is asked
    expect(page.get_by_role("heading", level=1)).to_have_text("Set quota shop")
    assert len(asked) == 3


def _new_version(page: Page) -> None:
    """From now on, the server has other files than those that this page was made of."""
    html = (Path(pages.__file__).parent / "static" / "index.html").read_text()
    other = re.sub(r"index-[^.]+\.js", "index-of-another-version.js", html)
    page.route(re.compile("/ui$"), lambda route: route.fulfill(body=other, content_type="text/html"))


@pytest.mark.long
def test_a_page_that_is_open_during_an_upgrade_reloads_itself(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN)
    gone: list[str] = []

    def once(route: Route) -> None:
        gone.append(route.request.url)
        if len(gone) == 1:
            route.fulfill(status=404)
        else:
            route.continue_()

    page.route("**/ui/assets/Fullest-*.js", once)
    _new_version(page)
    page.get_by_role("link", name="Quotas nearly full").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Quotas nearly full acme")
    assert len(gone) == 2


@pytest.mark.long
def test_if_that_does_not_help_the_page_says_so(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN)
    page.route("**/ui/assets/Fullest-*.js", lambda route: route.fulfill(status=404))
    _new_version(page)
    page.get_by_role("link", name="Quotas nearly full").click()
    expect(page.get_by_role("heading", name="A new version is available")).to_be_visible()
    assert violations(page) == []
    page.unroute_all(behavior="wait")
    page.get_by_role("button", name="Reload").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Quotas nearly full acme")


@pytest.mark.long
@pytest.mark.parametrize(
    "path", ["/ui/domains", "/ui/projects", f"{DOMAIN}/projects", "/ui/commitments"], ids=lambda path: path[4:]
)
def test_lists_without_the_list_of_resources_can_be_tried_again(open_as: OpenPage, path: str) -> None:
    page = open_as(CLOUD_ADMIN)
    page.route("**/v1/resources", lambda route: route.fulfill(status=503, body="the database does not answer"))
    page.goto(path)
    again = page.get_by_role("button", name="Try again")
    expect(page.get_by_text("the database does not answer").first).to_be_visible()
    expect(page.get_by_text("so far")).to_have_count(0)
    page.unroute_all(behavior="wait")
    again.click()
    expect(page.get_by_label("Resource", exact=True)).to_be_visible()
