"""A whole journey with a real Keystone: passwords, scopes, a token that ends."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.axe import violations
from tests.e2e.browser import watched_page
from tests.e2e.cloud import DashboardCloud, NewCloud
from tests.support.keystone import RealKeystone
from tests.support.keystone_seed import PASSWORD
from tests.support.processes import eventually


@pytest.fixture(scope="module")
def keystone_cloud(new_cloud: NewCloud, keystone: RealKeystone) -> Iterator[DashboardCloud]:
    """A cloud whose people and projects are Keystone's."""
    with new_cloud(
        discovery={"method": "list", "only_domains": "north|south"},
        identity={"method": "keystone", "keystone": keystone.credentials("limes"), "cache": {"ttl": 1}},
        ui={"user_domain": "north", "title": "Real cloud"},
    ) as made:
        yield made.start(fill=False)


@pytest.fixture
def page(browser: Browser, keystone_cloud: DashboardCloud) -> Iterator[Page]:
    with watched_page(browser, keystone_cloud.url) as watched:
        watched.page.goto("/ui")
        yield watched.page


def _sign_in(page: Page, user: str, password: str = PASSWORD) -> None:
    page.get_by_label("User", exact=True).fill(user)
    page.get_by_label("Password", exact=True).last.fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_wrong_password_then_the_right_one_then_a_scope(page: Page, keystone: RealKeystone) -> None:
    assert violations(page) == []
    expect(page.get_by_label("Domain")).to_have_value("north")
    _sign_in(page, "north-admin", "wrong")
    expect(page.get_by_role("alert")).to_have_text("user, domain or password is wrong")
    _sign_in(page, "north-admin")
    expect(page.get_by_text("What do you want to work on?")).to_be_visible()
    assert violations(page) == []
    page.reload()
    page.get_by_role("button", name="north domain").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("north domain")
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Switch scope").click()
    page.get_by_role("button", name="berlin").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("berlin project")
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert kept == '[{},{},""]'


@pytest.mark.long
def test_one_scope_needs_no_choice_and_an_ended_token_a_new_sign_in(
    page: Page, keystone: RealKeystone, keystone_cloud: DashboardCloud
) -> None:
    page.goto(f"/ui/domains/{keystone.ids.domains['north']}/projects/{keystone.ids.projects['berlin']}/history")
    _sign_in(page, "berlin-admin")
    expect(page.get_by_role("heading", level=1)).to_have_text("History berlin")
    cookies = {one["name"]: one for one in page.context.cookies(f"{page.url.partition('/ui')[0]}/ui/session")}
    assert cookies.keys() == {"limes-session", "limes-browser"}
    assert all(one["httpOnly"] and one["sameSite"] == "Strict" for one in cookies.values())
    token = cookies["limes-session"]["value"].split("|")[1]
    keystone.revoke(token)
    eventually("Limes asks again", lambda: keystone_cloud.request("GET", "/v1/rights", token).status_code == 401)
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text("Your session has ended.")).to_be_visible()
    _sign_in(page, "berlin-admin")
    expect(page.get_by_role("heading", level=1)).to_have_text("berlin project")


@pytest.mark.long
def test_an_application_credential(page: Page, keystone: RealKeystone) -> None:
    made = keystone.application_credential("berlin-admin", "berlin")
    page.get_by_role("radio", name="Application credential").check()
    page.get_by_label("Id of the credential").fill(made["id"])
    page.get_by_label("Secret").fill(made["secret"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("berlin project")
    page.locator(".menu summary").click()
    expect(page.get_by_role("button", name="Switch scope")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You have signed out.")).to_be_visible()


@pytest.mark.long
def test_a_token(page: Page, keystone: RealKeystone) -> None:
    page.get_by_role("radio", name="Token").check()
    page.get_by_label("Token", exact=True).last.fill(keystone.project_token("operator", "service"))
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cloud")


def test_who_decides_is_named(keystone: RealKeystone, keystone_cloud: DashboardCloud) -> None:
    """Also those who have their role anywhere, such as the user of Limes itself."""
    north = f"/v1/domains/{keystone.ids.domains['north']}"
    berlin = f"{north}/projects/{keystone.ids.projects['berlin']}"
    for path in ("/v1/domains/discover", f"{north}/projects/discover"):
        assert keystone_cloud.request("POST", path, keystone.project_token("operator", "service")).ok
    found = keystone_cloud.request("GET", f"{berlin}/deciders", keystone.project_token("berlin-admin", "berlin")).json()
    assert found == {
        "deciders": [{"id": keystone.ids.users["north-admin"], "name": "north-admin"}],
        "level": "domain",
        "more": 0,
        "roles": ["resource_admin"],
    }
    found = keystone_cloud.request("GET", f"{north}/deciders", keystone.domain_token("north-admin", "north")).json()
    assert (found["level"], found["roles"]) == ("cluster", ["cloud_resource_admin"])
    assert {"limes", "operator"} <= {each["name"] for each in found["deciders"]}
