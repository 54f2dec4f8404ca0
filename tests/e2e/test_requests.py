"""Asking for more quota where it is refused, and deciding: of each role, in a cloud of its own."""

import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.axe import violations
from tests.e2e.browser import PHONE, OpenPage, watched_page
from tests.e2e.cloud import (
    ACME,
    ACME_ADMIN,
    CLOUD_ADMIN,
    CLOUD_VIEWER,
    SHOP,
    SHOP_ADMIN,
    SHOP_MEMBER,
    DashboardCloud,
    discovery_of,
)

DOMAIN, PROJECT = f"/ui/domains/{ACME}", f"/ui/domains/{ACME}/projects/{SHOP}"
API = f"/v1/domains/{ACME}/projects/{SHOP}"
SIZES = {
    "small": {"description": "to try things out", "quotas": {"compute": {"cores": 30, "ram": "60 GiB"}}},
    "medium": {"quotas": {"compute": {"cores": 64, "ram": "80 GiB"}}},
}
MARKUP = "<b onclick=alert(1)>launch</b> & <img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def cloud(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardCloud]:
    """This file's own."""
    domains = {"method": "static", "params": {"domains": discovery_of("acme", "school")}}
    made = DashboardCloud(tmp_path_factory.mktemp("requests"), discovery=domains, quota_sets=SIZES)
    try:
        yield made.start()
    finally:
        made.process.stop()


@pytest.fixture(autouse=True)
def as_at_first(cloud: DashboardCloud) -> None:
    """No request is open, and shop has 40 of the domain's 200 cores."""
    for open_request in cloud.request("GET", "/v1/quota-requests?status=open&limit=1000").json()["quota_requests"]:
        place = f"/projects/{open_request['project']['id']}" if "project" in open_request else ""
        path = f"/v1/domains/{open_request['domain']['id']}{place}/quota-requests/{open_request['id']}/reject"
        assert cloud.request("POST", path, json={"reason": "the next test begins"}).status_code in (200, 409)
    cloud.put_quota(API, compute={"cores": 40})
    cloud.put_quota(f"/v1/domains/{ACME}", compute={"cores": 200})


@pytest.fixture
def watched(browser: Browser, cloud: DashboardCloud) -> Iterator[Callable[..., Any]]:
    """As `tests.e2e.conftest.watched`, in this cloud."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(watched_page(browser, cloud.url, **options))


def asked(cloud: DashboardCloud, cores: int, reason: str = "launch") -> int:
    """A request of shop, made without the dashboard."""
    services = [{"type": "compute", "resources": [{"name": "cores", "quota": cores}]}]
    document = {"quota_request": {"services": services, "reason": reason}}
    answer = cloud.request("POST", f"{API}/quota-requests", SHOP_ADMIN, json=document)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["quota_request"]["id"])


def cores_of(cloud: DashboardCloud, path: str = API) -> int:
    document = cloud.request("GET", f"{path}?service=compute&resource=cores").json()
    return int(document["project" if "/projects/" in path else "domain"]["services"][0]["resources"][0]["quota"])


def status(page: Page) -> Locator:
    return page.locator(".request-status")


def nav_entry(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Main").get_by_role("link", name=name, exact=True)


def answer(page: Page, verb: str, text: str, button: str = "") -> None:
    """Chooses what to do with the request that is shown, and does it."""
    form = page.get_by_role("form", name="Answer")
    form.get_by_label("Answer").select_option(label=verb)
    form.get_by_label("Reason" if verb == "Reject" else "Comment").fill(text)
    form.get_by_role("button", name=button or verb, exact=True).click()


# -- asking ------------------------------------------------------------------------------------------------------------


def test_a_refused_quota_becomes_a_request(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN, f"{PROJECT}/quota")
    page.get_by_label("Virtual cores").fill("60")
    expect(page.get_by_text("1 of 1 would be refused.")).to_be_visible()
    page.get_by_role("link", name="Request more of Virtual cores").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Request more quota")
    field = page.get_by_label("Virtual cores")
    expect(field).to_have_value("60")
    send = page.get_by_role("button", name="Send the request")
    field.fill("30")
    expect(page.get_by_text("Not more than the present 40")).to_be_visible()
    expect(send).to_be_disabled()
    field.fill("+20")
    page.get_by_label("Reason").fill(MARKUP)
    expect(send).to_be_enabled()
    assert violations(page) == []
    send.click()
    expect(status(page)).to_have_text("Open")
    expect(page.get_by_role("row", name="Virtual cores")).to_contain_text("60")
    expect(page.get_by_role("list", name="Conversation")).to_contain_text(MARKUP)
    assert page.locator(".conversation b, .conversation img").count() == 0
    assert violations(page) == []
    nav_entry(page, "Requests").click()
    expect(page.get_by_role("row", name="Virtual cores: 40 to 60")).to_contain_text("Bert")


def test_a_preset_size_is_asked_for(open_as: OpenPage) -> None:
    """Of which there is enough RAM already."""
    page = open_as(SHOP_ADMIN, f"{PROJECT}/requests/new")
    page.get_by_label("Preset size").select_option("medium")
    expect(page.get_by_label("Virtual cores")).to_have_value("64")
    expect(page.get_by_label("ram")).to_have_value("")
    assert violations(page) == []
    page.get_by_label("Reason").fill("launch")
    page.get_by_role("button", name="Send the request").click()
    expect(page.get_by_role("row", name="Virtual cores")).to_contain_text("64")
    expect(page.get_by_role("row", name="ram")).to_have_count(0)


def test_a_preset_size_is_set(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(ACME_ADMIN, f"{PROJECT}/quota")
    page.get_by_label("Preset size").select_option("small")
    expect(page.get_by_text("to try things out")).to_be_visible()
    expect(page.get_by_label("Virtual cores")).to_have_value("30")
    expect(page.get_by_label("ram")).to_have_value("60 GiB")
    page.get_by_label("Virtual cores").fill("35")
    page.get_by_role("button", name="Save 2 quotas").click()
    expect(page.get_by_text("Quota of shop saved.")).to_be_visible()
    assert cores_of(cloud) == 35
    cloud.put_quota(API, compute={"ram": 80 * 1024})


def test_a_preset_size_in_the_dialog_of_one_quota(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/projects")
    page.get_by_role("button", name="Set quota of shop", exact=True).click()
    dialog = page.get_by_role("dialog")
    sizes = dialog.get_by_label("Preset size")
    expect(sizes.get_by_role("option")).to_have_text(["None", "medium: 64", "small: 30"])
    sizes.select_option("small")
    expect(dialog.get_by_text("to try things out")).to_be_visible()
    expect(dialog.get_by_label("Virtual cores")).to_have_value("30")
    assert violations(page) == []
    dialog.get_by_role("button", name="Save quota").click()
    expect(page.get_by_text("Quota of shop saved.")).to_be_visible()
    assert cores_of(cloud) == 30
    cloud.put_quota(API, compute={"cores": 40})


def test_quota_for_a_time(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(ACME_ADMIN, f"{PROJECT}/quota")
    page.get_by_label("Virtual cores").fill("50")
    page.get_by_label("Until").fill("2001-01-01T10:00")
    expect(page.get_by_text("1 of 1 would be refused.")).to_be_visible()
    page.get_by_label("Until").fill(f"{datetime.now() + timedelta(days=14):%Y-%m-%dT10:00}")
    assert violations(page) == []
    page.get_by_role("button", name="Save quota").click()
    expect(page.get_by_text(re.compile("50 until .*, 10:00, then 40"))).to_be_visible()
    page.goto(PROJECT)
    page.locator("summary.resource").filter(has_text="Virtual cores").click()
    expect(page.get_by_text(re.compile("50 until .*, 10:00, then 40"))).to_be_visible()


def test_a_request_is_about_the_quota_after_one_for_a_time(open_as: OpenPage, cloud: DashboardCloud) -> None:
    until = int((datetime.now() + timedelta(days=14)).timestamp())
    cores = {"name": "cores", "quota": 50, "until": until}
    body = {"project": {"services": [{"type": "compute", "resources": [cores]}]}}
    assert cloud.request("PUT", API, ACME_ADMIN, json=body).status_code == 202
    page = open_as(SHOP_ADMIN, f"{PROJECT}/requests/new")
    field = page.locator(".quota-field").filter(has_text="Virtual cores")
    expect(field).to_contain_text(re.compile("50 until .*, then 40"))
    expect(field).to_contain_text("afterwards 40")
    page.get_by_label("Virtual cores").fill("50")
    page.get_by_label("Reason").fill("for good")
    assert violations(page) == []
    page.get_by_role("button", name="Send the request").click()
    expect(page.get_by_role("row", name="Virtual cores")).to_contain_text("40")
    expect(page.get_by_role("row", name="Virtual cores")).to_contain_text("50")


def test_who_may_not_ask_is_not_offered_it(open_as: OpenPage, cloud: DashboardCloud) -> None:
    number = asked(cloud, 60)
    page = open_as(SHOP_MEMBER, PROJECT)
    expect(nav_entry(page, "Requests")).to_be_visible()
    page.locator("summary.resource").filter(has_text="Virtual cores").click()
    expect(page.get_by_role("link", name="History and explanation").first).to_be_visible()
    expect(page.get_by_role("link", name="Request more")).to_have_count(0)
    page.goto(f"{PROJECT}/requests/{number}")
    expect(status(page)).to_have_text("Open")
    expect(page.get_by_role("form", name="Answer")).to_have_count(0)


def test_who_has_asked_comments_and_withdraws(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(SHOP_ADMIN, f"{PROJECT}/requests/{asked(cloud, 60)}")
    answer(page, "Comment", "it is <i>urgent</i>", "Comment")
    expect(page.get_by_role("list", name="Conversation")).to_contain_text("it is <i>urgent</i>")
    expect(page.get_by_role("form", name="Answer").get_by_label("Comment")).to_have_value("")
    answer(page, "Withdraw", "")
    expect(status(page)).to_have_text("Withdrawn")
    expect(page.get_by_role("form", name="Answer").get_by_label("Answer")).to_have_count(0)


def test_asking_on_a_phone_by_keyboard(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN, PROJECT, viewport=PHONE, color_scheme="dark")
    page.get_by_role("link", name="Request more", exact=True).click()
    page.get_by_label("Virtual cores").fill("50")
    page.get_by_label("Reason").fill("launch")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("Reason").press("Tab")
    page.get_by_role("button", name="Send the request").press("Enter")
    expect(status(page)).to_have_text("Open")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# -- deciding ----------------------------------------------------------------------------------------------------------


def test_a_domain_admin_grants_a_part(open_as: OpenPage, cloud: DashboardCloud) -> None:
    number = asked(cloud, 60, MARKUP)
    page = open_as(ACME_ADMIN)
    entry = nav_entry(page, "Requests 1 waiting")
    entry.click()
    expect(page.get_by_text("1 request", exact=True)).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name=f"Request {number}").click()
    expect(page.get_by_text("now 40; it fits")).to_be_visible()
    grant = page.get_by_label("Grant of Virtual cores")
    grant.fill("61")
    expect(page.get_by_text("More than was asked for")).to_be_visible()
    grant.fill("50")
    assert violations(page) == []
    answer(page, "Approve", "half for now", "Approve a part")
    expect(status(page)).to_have_text("Partly approved")
    expect(page.get_by_role("row", name="Virtual cores")).to_contain_text("50")
    expect(page.get_by_role("list", name="Conversation")).to_contain_text("half for now")
    expect(nav_entry(page, "Requests")).to_be_visible()
    assert cores_of(cloud) == 50


def test_a_rejection_needs_a_reason(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(ACME_ADMIN, f"{DOMAIN}/projects/{SHOP}/requests/{asked(cloud, 60)}")
    form = page.get_by_role("form", name="Answer")
    form.get_by_label("Answer").select_option(label="Reject")
    expect(form.get_by_role("button", name="Reject")).to_be_disabled()
    answer(page, "Reject", "please clean up first")
    expect(status(page)).to_have_text("Rejected")
    expect(page.get_by_role("list", name="Conversation")).to_contain_text("please clean up first")


def test_somebody_else_was_faster(open_as: OpenPage, cloud: DashboardCloud) -> None:
    number = asked(cloud, 60)
    page = open_as(ACME_ADMIN, f"{PROJECT}/requests/{number}")
    expect(page.get_by_role("form", name="Answer")).to_be_visible()
    done = cloud.request("POST", f"{API}/quota-requests/{number}/reject", json={"reason": "I was faster"})
    assert done.status_code == 200, done.text
    answer(page, "Approve", "")
    expect(page.get_by_role("alert").filter(has_text="Nothing was changed")).to_contain_text(
        f"quota request {number} is rejected, not open"
    )
    expect(status(page)).to_have_text("Rejected")
    expect(page.get_by_role("list", name="Conversation")).to_contain_text("I was faster")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    assert cores_of(cloud) == 40


def test_what_does_not_fit_is_passed_on(open_as: OpenPage, cloud: DashboardCloud) -> None:
    """analytics has 64 of the domain's 200 cores."""
    number = asked(cloud, 180)
    page = open_as(ACME_ADMIN, f"{PROJECT}/requests/{number}")
    expect(page.get_by_text("now 40; only up to 136 fits")).to_be_visible()
    answer(page, "Approve", "")
    expect(page.get_by_role("alert").filter(has_text="Nothing was changed")).to_contain_text("domain quota exceeded")
    answer(page, "Pass on", "a new customer")
    expect(status(page)).to_contain_text("Open passed on as")
    page.goto(f"{DOMAIN}/requests")
    expect(page.get_by_text("No request of a project waits for a decision.")).to_be_visible()
    page.get_by_label("Show").select_option(label="Passed on")
    expect(page.get_by_role("row", name="Virtual cores: 40 to 180")).to_be_visible()

    above = open_as(CLOUD_ADMIN)
    nav_entry(above, "Requests 1 waiting").click()
    above.get_by_role("row", name="domain acme").get_by_role("link", name="Request").click()
    expect(above.get_by_role("row", name="Virtual cores")).to_contain_text("244")
    expect(above.get_by_role("link", name=f"Request {number}")).to_be_visible()
    answer(above, "Approve", "welcome")
    expect(status(above)).to_have_text("Approved")
    above.get_by_role("link", name=f"Request {number}").click()
    expect(status(above)).to_have_text("Approved")
    assert (cores_of(cloud), cores_of(cloud, f"/v1/domains/{ACME}")) == (180, 244)
    cloud.put_quota(API, compute={"cores": 40})


def test_a_domain_asks_for_itself(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(ACME_ADMIN, DOMAIN)
    page.get_by_role("link", name="Request more", exact=True).first.click()
    page.get_by_label("Virtual cores").fill("+100")
    page.get_by_label("Reason").fill("a new customer")
    page.get_by_role("button", name="Send the request").click()
    expect(status(page)).to_have_text("Open")
    form = page.get_by_role("form", name="Answer")
    expect(form.get_by_role("button", name="Comment", exact=True)).to_be_visible()
    expect(form.get_by_label("Answer").get_by_role("option", name="Approve")).to_have_count(0)
    above = open_as(CLOUD_ADMIN, page.url)
    answer(above, "Approve", "welcome")
    expect(status(above)).to_have_text("Approved")
    assert cores_of(cloud, f"/v1/domains/{ACME}") == 300


def test_a_thousand_open_requests(open_as: OpenPage, cloud: DashboardCloud) -> None:
    with sqlite3.connect(cloud._folder / "limes.db") as database:
        (domain,) = database.execute("SELECT id FROM domains WHERE uuid = ?", [ACME]).fetchone()
        for _ in range(1000):
            insert = "INSERT INTO quota_requests (domain_id, status, reason, created_at, requester_id, requester_name)"
            row = database.execute(f"{insert} VALUES (?, 'open', 'more', ?, 'u', 'Mia')", [domain, time.time()])
            amounts = "(request_id, service_type, resource_name, what, present, wanted)"
            database.execute(
                f"INSERT INTO quota_request_amounts {amounts} VALUES (?, 'compute', 'cores', 'quota', 1, 2)",
                [row.lastrowid],
            )
    try:
        page = open_as(CLOUD_VIEWER, "/ui/requests")
        limits: list[str] = []
        page.on("request", lambda one: limits.append(one.url) if "quota-requests" in one.url else None)
        page.get_by_label("Show").select_option(label="All")
        count = page.get_by_role("main").get_by_role("status")
        expect(count.filter(has_text="100 of")).to_be_visible()
        page.get_by_role("button", name="Show older requests").click()
        expect(count.filter(has_text="600 of")).to_be_visible()
        page.get_by_role("button", name="Show older requests").click()
        expect(count.filter(has_text=re.compile(r"^1,\d{3} requests$"))).to_be_visible()
        expect(page.get_by_role("button", name="Show older requests")).to_have_count(0)
        assert [url.split("limit=")[1].split("&")[0] for url in limits] == ["100", "500", "500"]
        assert page.locator("tbody tr").count() < 60, "only the rows in sight are in the document"
    finally:
        with sqlite3.connect(cloud._folder / "limes.db") as database:
            ids = "SELECT id FROM quota_requests WHERE requester_id = 'u'"
            database.execute(f"DELETE FROM quota_request_amounts WHERE request_id IN ({ids})")
            database.execute("DELETE FROM quota_requests WHERE requester_id = 'u'")


# -- alerts ------------------------------------------------------------------------------------------------------------


def test_alerts_ring_the_bell_and_are_on_the_first_page(open_as: OpenPage, cloud: DashboardCloud) -> None:
    """analytics uses 58 of 64 cores."""
    page = open_as(ACME_ADMIN)
    first = page.get_by_role("region", name="Alerts")
    expect(first).to_contain_text("Virtual cores: 91 % of the quota is used, 58 of 64")
    bell = page.get_by_role("banner").get_by_role("link", name="alert")
    counts = cloud.request("GET", f"/v1/domains/{ACME}/alerts", ACME_ADMIN).json()["counts"]
    expect(bell).to_contain_text(f"{counts['critical'] + counts['warning']} alert")
    assert violations(page) == []
    bell.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Alerts")
    row = page.get_by_role("row", name="Virtual cores: 91 % of the quota is used")
    expect(row).to_contain_text("analytics")
    page.get_by_label("Search").fill("no such thing")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.get_by_label("Search").fill("analytics")
    row.get_by_role("link", name="Virtual cores").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("History")
