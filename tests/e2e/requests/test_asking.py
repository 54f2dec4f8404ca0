"""Asking for more quota where it is refused, or setting it: of each role."""

import re
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.browser import PHONE, OpenPage
from tests.e2e.cloud import ACME, ACME_ADMIN, SHOP_ADMIN, SHOP_MEMBER, DashboardCloud
from tests.e2e.requests.steps import API, MARKUP, PROJECT, answer, asked, cores_of, nav_entry, status


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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_quota_for_a_time(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(ACME_ADMIN, f"{PROJECT}/quota")
    page.get_by_label("Virtual cores").fill("50")
    page.get_by_label("Until").fill("2001-01-01T10:00")
    expect(page.get_by_text("1 of 1 would be refused.")).to_be_visible()
    page.get_by_label("Until").fill(f"{datetime.now() + timedelta(days=14):%Y-%m-%dT10:00}")
    assert violations(page) == []
    page.get_by_role("button", name="Save quota").click()
    expect(page.get_by_text(re.compile(r"50 until .*, 10:00 \S+, then 40"))).to_be_visible()
    page.goto(PROJECT)
    page.locator("summary.resource").filter(has_text="Virtual cores").click()
    expect(page.get_by_text(re.compile(r"50 until .*, 10:00 \S+, then 40"))).to_be_visible()


@pytest.mark.long
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


def test_what_a_member_proposes_is_confirmed(open_as: OpenPage) -> None:
    page = open_as(SHOP_MEMBER, PROJECT)
    page.get_by_role("link", name="Request more", exact=True).click()
    expect(page.get_by_text("An admin of the project has to confirm your request")).to_be_visible()
    page.get_by_label("Virtual cores").fill("60")
    page.get_by_label("Reason").fill(MARKUP)
    page.get_by_role("button", name="Send the request").click()
    expect(status(page)).to_have_text("Proposed")
    answer(page, "Comment", "it is urgent", "Comment")
    expect(page.get_by_role("list", name="Conversation")).to_contain_text("proposed to ask for it")
    expect(page.get_by_text("Bert, with the role admin or resource_admin on the project")).to_be_visible()
    assert violations(page) == []
    page = open_as(SHOP_ADMIN, PROJECT)
    nav_entry(page, "Requests 1 waiting").click()
    page.get_by_role("link", name="1 request of members waits for you to confirm").click()
    expect(page.get_by_label("Show")).to_have_value("waiting")
    assert violations(page) == []
    page.get_by_role("link", name=re.compile(r"^Request \d+$")).click()
    answer(page, "Confirm", "we need it")
    expect(status(page)).to_have_text("Open")
    expect(page.get_by_role("list", name="Conversation")).to_contain_text("it is urgent")
    expect(page.get_by_text("Anna, with the role resource_admin on the domain")).to_be_visible()
    expect(nav_entry(page, "Requests")).to_be_visible()


@pytest.mark.long
def test_a_proposal_is_rejected_or_withdrawn(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(SHOP_ADMIN, f"{PROJECT}/requests/{asked(cloud, 60, token=SHOP_MEMBER)}")
    answer(page, "Reject", "clean up first")
    expect(status(page)).to_have_text("Rejected")
    page = open_as(SHOP_MEMBER, f"{PROJECT}/requests/{asked(cloud, 60, token=SHOP_MEMBER)}")
    answer(page, "Withdraw", "")
    expect(status(page)).to_have_text("Withdrawn")


@pytest.mark.long
def test_a_request_is_shown_without_those_who_decide(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(SHOP_ADMIN)
    page.route("**/deciders", lambda route: route.fulfill(status=503, body="not now"))
    page.goto(f"{PROJECT}/requests/{asked(cloud, 60)}")
    expect(page.get_by_text("not known now: not now")).to_be_visible()
    expect(page.get_by_role("form", name="Answer")).to_be_visible()
    page.unroute_all()


@pytest.mark.long
def test_members_have_no_answer_to_what_others_ask_for(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(SHOP_MEMBER, f"{PROJECT}/requests/{asked(cloud, 60)}")
    expect(status(page)).to_have_text("Open")
    expect(page.get_by_role("form", name="Answer")).to_have_count(0)


@pytest.mark.long
def test_who_has_asked_comments_and_withdraws(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(SHOP_ADMIN, f"{PROJECT}/requests/{asked(cloud, 60)}")
    answer(page, "Comment", "it is <i>urgent</i>", "Comment")
    expect(page.get_by_role("list", name="Conversation")).to_contain_text("it is <i>urgent</i>")
    expect(page.get_by_role("form", name="Answer").get_by_label("Comment")).to_have_value("")
    answer(page, "Withdraw", "")
    expect(status(page)).to_have_text("Withdrawn")
    expect(page.get_by_role("form", name="Answer").get_by_label("Answer")).to_have_count(0)


@pytest.mark.long
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
