"""My notifications: what was decided, mails, the own threshold, and the project's webhook, from the bell on."""

import json
import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import ACME, ACME_ADMIN, SHOP, SHOP_ADMIN, DashboardCloud

PROJECT = f"/v1/domains/{ACME}/projects/{SHOP}"
PAGE = "/ui/notifications"
ADDRESS = "bert@example.com"


def picture(page: Page, name: str) -> None:
    """For people who want to look at it."""
    if folder := os.environ.get("LIMES_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.fixture
def decided(cloud: DashboardCloud) -> int:
    """A request of Bert that Anna has rejected, with a comment before."""
    services = [{"type": "compute", "resources": [{"name": "cores", "quota": 90}]}]
    asked = cloud.request(
        "POST",
        f"{PROJECT}/quota-requests",
        SHOP_ADMIN,
        json={"quota_request": {"services": services, "reason": "Easter"}},
    )
    number: int = asked.json()["quota_request"]["id"]
    for verb, body in (("comments", {"comment": "How long?"}), ("reject", {"reason": "Not this year."})):
        assert cloud.request("POST", f"{PROJECT}/quota-requests/{number}/{verb}", ACME_ADMIN, json=body).ok
    return number


@pytest.fixture
def no_webhook(cloud: DashboardCloud) -> Iterator[None]:
    yield
    cloud.request("DELETE", f"{PROJECT}/webhook", SHOP_ADMIN)


def test_the_bell_leads_to_decisions(open_as: OpenPage, decided: int) -> None:
    page = open_as(SHOP_ADMIN, f"/ui/domains/{ACME}/projects/{SHOP}")
    bell = page.get_by_role("link", name=re.compile(r"^My notifications: \d+ unread decisions"))
    bell.click()
    expect(page.get_by_role("heading", name="My notifications")).to_be_visible()
    items = page.get_by_role("region", name="Decisions on your requests").get_by_role("listitem")
    expect(items.first).to_contain_text(re.compile(rf"New Request {decided} of project shop was rejected by Anna"))
    expect(items.first).to_contain_text("Not this year.")
    expect(items.nth(1)).to_contain_text("was commented on by Anna")
    expect(page.get_by_role("link", name=re.compile("^My notifications: ((?!unread).)*$"))).to_be_visible()
    assert violations(page) == []
    picture(page, "inbox")
    items.first.get_by_role("link").click()
    expect(page.get_by_role("heading", name=f"Request {decided}")).to_be_visible()
    page.goto(page.url.replace(page.url[page.url.index("/ui/") :], PAGE))
    expect(items.first).to_contain_text(f"Request {decided}")
    expect(page.get_by_text("New", exact=True)).to_have_count(0)


def test_mails_and_the_own_threshold(open_as: OpenPage) -> None:
    """Keystone is not there, so the API's answers about addresses are made up."""
    page = open_as(SHOP_ADMIN, "/ui")
    kinds = {"quota_used": True, "own_threshold": True}
    percent: list[int | None] = [None]

    def mails(route: Route) -> None:
        for one in (route.request.post_data_json or {}).get("mail_settings", {}).get("kinds", []):
            kinds[one["kind"]] = one["sent"]
        listed = [{"kind": kind, "sent": sent} for kind, sent in kinds.items()]
        route.fulfill(json={"mail_settings": {"address": ADDRESS, "sent": True, "kinds": listed}})

    def threshold(route: Route) -> None:
        if route.request.method == "PUT":
            percent.append(json.loads(route.request.post_data or "")["my_threshold"]["percent"])
        route.fulfill(json={"my_threshold": {"percent": percent[-1], "address": ADDRESS}})

    page.route("**/v1/mail-settings", mails)
    page.route("**/my-threshold", threshold)
    page.get_by_role("link", name=re.compile("^My notifications")).click()
    field, save = page.get_by_label("Percent of a quota"), page.get_by_role("button", name="Save threshold")
    field.fill("101")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(save).to_be_disabled()
    field.fill("70")
    page.get_by_text("The same as a command").click()
    expect(page.get_by_text("--percent 70")).to_be_visible()
    assert violations(page) == []
    save.click()
    expect(page.get_by_text("You get a mail beyond 70 %.")).to_be_visible()
    assert percent == [None, 70]
    box = page.get_by_label("A quota is nearly used up")
    box.uncheck()
    expect(box).not_to_be_checked()
    assert kinds == {"quota_used": False, "own_threshold": True}
    expect(page.get_by_text(ADDRESS)).to_be_visible()
    assert violations(page) == []
    picture(page, "mails")


@pytest.mark.usefixtures("no_webhook")
def test_a_webhook(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(SHOP_ADMIN, PAGE)
    region = page.get_by_role("region", name="Webhook of shop")
    region.get_by_role("button", name="Set webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="URL").fill("https://evil.example/")
    dialog.get_by_role("button", name="Set webhook").click()
    expect(dialog.get_by_text("evil.example is not among the hosts that are allowed: localhost")).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("textbox", name="URL").fill("http://localhost:9/hooks/1")
    dialog.get_by_role("button", name="Set webhook").click()
    expect(dialog.get_by_label("Secret")).to_have_value(re.compile("^[0-9a-f]{48}$"))
    secret = dialog.get_by_label("Secret").input_value()
    assert violations(page) == []
    picture(page, "secret")
    dialog.get_by_role("button", name="Done").click()
    expect(region.get_by_text("http://localhost:9/hooks/1")).to_be_visible()
    assert secret not in page.content()
    picture(page, "webhook")
    region.get_by_role("button", name="Remove webhook").click()
    expect(dialog.get_by_text("Notifications about this project are no longer sent to it.")).to_be_visible()
    dialog.get_by_role("button", name="Remove webhook").click()
    expect(region.get_by_role("button", name="Set webhook")).to_be_visible()
    changes = cloud.request("GET", f"{PROJECT}/changes?kind=webhook", SHOP_ADMIN).json()["changes"]
    assert [one["sentence"] for one in changes[:2]] == [
        "Bert removed the webhook of project acme/shop.", "Bert set the webhook of project acme/shop to localhost.",
    ]  # fmt: skip
