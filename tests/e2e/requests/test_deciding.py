"""Deciding on requests for quota, and alerts that lead to them."""

import re
import sqlite3
import time

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import ACME, ACME_ADMIN, CLOUD_ADMIN, CLOUD_VIEWER, SHOP, DashboardCloud
from tests.e2e.requests.steps import API, DOMAIN, MARKUP, PROJECT, answer, asked, cores_of, nav_entry, status


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


@pytest.mark.long
def test_a_rejection_needs_a_reason(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(ACME_ADMIN, f"{DOMAIN}/projects/{SHOP}/requests/{asked(cloud, 60)}")
    form = page.get_by_role("form", name="Answer")
    form.get_by_label("Answer").select_option(label="Reject")
    expect(form.get_by_role("button", name="Reject")).to_be_disabled()
    answer(page, "Reject", "please clean up first")
    expect(status(page)).to_have_text("Rejected")
    expect(page.get_by_role("list", name="Conversation")).to_contain_text("please clean up first")


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_a_thousand_open_requests(open_as: OpenPage, cloud: DashboardCloud) -> None:
    with sqlite3.connect(cloud.folder / "limes.db") as database:
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
        sizes = [url.split("limit=")[1].split("&")[0] for url in limits]
        assert [size for size in sizes if size != "100"] == [
            "500",
            "500",
        ]  # the first page may have been asked for again
        assert page.locator("tbody tr").count() < 60, "only the rows in sight are in the document"
    finally:
        with sqlite3.connect(cloud.folder / "limes.db") as database:
            ids = "SELECT id FROM quota_requests WHERE requester_id = 'u'"
            database.execute(f"DELETE FROM quota_request_amounts WHERE request_id IN ({ids})")
            database.execute("DELETE FROM quota_requests WHERE requester_id = 'u'")


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
    expect(page.get_by_role("heading", level=1)).to_contain_text("My notifications")
    page.get_by_role("link", name="All alerts").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Alerts")
    row = page.get_by_role("row", name="Virtual cores: 91 % of the quota is used")
    expect(row).to_contain_text("analytics")
    page.get_by_label("Search").fill("no such thing")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text=re.compile(r"^0 of \d+ alerts"))).to_be_visible()
    page.get_by_label("Search").fill("analytics")
    row.get_by_role("link", name="Virtual cores").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("History")
