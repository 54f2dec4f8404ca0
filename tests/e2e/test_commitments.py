"""Commitments: bought, planned, given away and taken, reshaped; and who may only look."""

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import violations
from tests.e2e.browser import PHONE, OpenPage
from tests.e2e.cloud import (
    ACME,
    ACME_ADMIN,
    ANALYTICS,
    ANALYTICS_ADMIN,
    CLOUD_ADMIN,
    PROJECTS,
    SHOP,
    SHOP_ADMIN,
    SHOP_MEMBER,
    DashboardCloud,
)

_GIB = 1024
OF_ACME = f"/ui/domains/{ACME}/commitments"
OF_SHOP, OF_ANALYTICS = (f"/domains/{ACME}/projects/{project}/commitments" for project in (SHOP, ANALYTICS))


def commit(cloud: DashboardCloud, path: str = OF_SHOP, **changes: Any) -> dict:
    """A commitment that somebody made before."""
    wanted = {
        "service_type": "storage",
        "resource_name": "capacity",
        "availability_zone": "any",
        "amount": 10,
        "duration": "1 year",
    }
    answer = cloud.request("POST", f"/v1{path}/new", json={"commitment": wanted | changes})
    assert answer.status_code == 201, answer.text
    return answer.json()["commitment"]


def listed(cloud: DashboardCloud, path: str = OF_SHOP) -> dict[int, dict]:
    """A project's commitments by number."""
    found = cloud.request("GET", f"/v1{path}").json()["commitments"]
    return {one["id"]: one for one in found}


def numbered(number: int) -> str:
    """How the name of a commitment's row, button or checkbox ends for those who do not see it."""
    return f"(number {number})"


def manage(page: Page, number: int, action: str | None = None) -> Locator:
    """The dialog of a commitment, where `action` was chosen."""
    page.get_by_role("button", name=numbered(number)).click()
    dialog = page.get_by_role("dialog")
    if action:
        dialog.get_by_role("button", name=action, exact=True).click()
    return dialog


def test_a_project_admin_buys(open_as: OpenPage, cloud: DashboardCloud) -> None:
    before = set(listed(cloud))
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}")
    page.get_by_role("button", name="Commit to Virtual cores in west-2").click()
    dialog = page.get_by_role("dialog", name="Buy a commitment")
    expect(dialog.get_by_label("Amount")).to_be_focused()
    dialog.get_by_label("Amount").fill("many")
    expect(dialog.get_by_text("Enter a whole number")).to_be_visible()
    dialog.get_by_label("Amount").fill("41")
    expect(dialog.get_by_role("status")).to_contain_text("but its quota is 40: what is beyond it cannot be used")
    assert violations(page) == []
    dialog.get_by_label("Amount").fill("4")
    dialog.get_by_label("Duration").select_option("2 years")
    expect(dialog.get_by_role("status")).to_have_text("This can be confirmed at once.")
    assert violations(page) == []
    dialog.get_by_role("button", name="Buy 4 Virtual cores for 2 years").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Commit to Virtual cores in west-2")).to_be_focused()
    (number,) = set(listed(cloud)) - before
    expect(page.get_by_role("row", name=numbered(number))).to_contain_text("confirmed")
    expect(page.get_by_text(re.compile(r"Bought: 4 Virtual cores in west-2, until \d+ \w+ \d{4}"))).to_be_visible()
    assert page.url.endswith(f"/ui{OF_SHOP}")
    made = listed(cloud)[number]
    assert (made["amount"], made["availability_zone"], made["duration"]) == (4, "west-2", "2 years")
    assert made["creator_name"] == "Bert@acme"
    assert violations(page) == []


@pytest.mark.long
def test_what_cannot_be_had_now_is_planned(open_as: OpenPage, cloud: DashboardCloud) -> None:
    commit(
        cloud, OF_ANALYTICS, service_type="compute", resource_name="ram", availability_zone="west-2", amount=750 * _GIB
    )
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}?do=buy&of=compute/ram&az=west-2&amount=100 GiB")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Duration").select_option("1 year")
    expect(dialog.get_by_role("status")).to_contain_text("Not at once. It could be confirmed")
    expect(dialog.get_by_role("button", name="Buy 100 GiB ram for 1 year")).to_be_disabled()
    dialog.get_by_text("One commitment has to end before").click()
    expect(dialog.get_by_text("750 GiB in west-2, until")).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Commit from").click()
    expect(dialog.get_by_role("status")).to_contain_text("It would be confirmed")
    dialog.get_by_role("button", name="Plan 100 GiB ram for 1 year").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    wanted = ("ram", 100 * _GIB, "planned")
    (planned,) = (
        one for one in listed(cloud).values() if (one["resource_name"], one["amount"], one["status"]) == wanted
    )
    assert planned["confirm_by"] > time.time() + 364 * 86400
    page.goto(f"/ui{OF_SHOP}?status=planned")
    expect(page.get_by_role("row", name="100 GiB")).to_contain_text("planned")


@pytest.mark.long
def test_nothing_that_is_too_much_for_ever_is_bought(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}?do=buy&of=compute/cores&az=west-1&amount=601")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("status")).to_contain_text("There is no time at which this could be confirmed")
    expect(dialog.get_by_role("button", name="Buy 601")).to_be_disabled()


@pytest.mark.long
def test_a_part_goes_to_another_project_by_token(open_as: OpenPage, cloud: DashboardCloud) -> None:
    number = commit(cloud, amount=10)["id"]
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}")
    dialog = manage(page, number, "Transfer")
    dialog.get_by_label("How much of it").fill("11")
    expect(dialog.get_by_text("At most 10 GiB")).to_be_visible()
    dialog.get_by_label("How much of it").fill("4")
    expect(dialog.get_by_text("It is split: 6 GiB stay here.")).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Start the transfer").click()
    expect(dialog.get_by_label("Transfer token")).to_be_focused()
    token = dialog.get_by_label("Transfer token").input_value()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == token
    expect(dialog.get_by_role("list", name="What can be done")).to_have_count(0)
    assert violations(page) == []
    dialog.get_by_role("button", name="Close").click()
    parts = {one["amount"]: one for one in listed(cloud).values() if one["id"] > number}
    assert set(parts) == {4, 6}
    expect(page.get_by_role("row", name=numbered(parts[4]["id"]))).to_contain_text("in transfer")
    assert token not in page.content()

    other = open_as(ANALYTICS_ADMIN, f"/ui{OF_ANALYTICS}")
    other.get_by_role("button", name="Accept transfer").click()
    dialog = other.get_by_role("dialog")
    dialog.get_by_label("Transfer token").fill("nonsense")
    expect(dialog.get_by_text("no matching commitment found")).to_be_visible()
    dialog.get_by_label("Transfer token").fill(token)
    expect(dialog.get_by_text("4 GiB capacity in any zone")).to_be_visible()
    assert violations(other) == []
    dialog.get_by_role("button", name="Take this commitment").click()
    expect(other.get_by_role("row", name=numbered(parts[4]["id"]))).to_contain_text("4 GiB")
    assert parts[4]["id"] in listed(cloud, OF_ANALYTICS)
    assert parts[4]["id"] not in listed(cloud)


@pytest.mark.long
def test_what_is_public_is_taken_from_a_list_or_withdrawn(open_as: OpenPage, cloud: DashboardCloud) -> None:
    taken, kept = (commit(cloud, amount=amount)["id"] for amount in (21, 22))
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}")
    for number in (taken, kept):
        dialog = manage(page, number, "Transfer")
        dialog.get_by_label("For everybody").check()
        dialog.get_by_role("button", name="Start the transfer").click()
        dialog.get_by_label("Transfer token").wait_for()
        dialog.get_by_role("button", name="Close").click()
    dialog = manage(page, kept)
    expect(dialog.get_by_text("Renew, Change duration, Convert: It is offered for transfer")).to_be_visible()
    dialog.get_by_role("button", name="Withdraw the offer").click()
    dialog.locator("form").get_by_role("button", name="Withdraw the offer").click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    other = open_as(ANALYTICS_ADMIN, f"/ui{OF_ANALYTICS}?do=take")
    expect(other.get_by_role("button", name="Take 22 GiB capacity")).to_have_count(0)
    other.get_by_role("button", name="Take 21 GiB capacity").click()
    expect(other.get_by_role("row", name=numbered(taken))).to_contain_text("21 GiB")
    assert taken in listed(cloud, OF_ANALYTICS)
    assert "transfer_status" not in listed(cloud)[kept]


def test_merge_renew_last_longer_convert_and_delete(open_as: OpenPage, cloud: DashboardCloud) -> None:
    cores = {"service_type": "compute", "resource_name": "cores", "availability_zone": "west-1", "duration": "1 hour"}
    first, second, longer = (commit(cloud, amount=1, **cores)["id"] for _ in range(3))
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}?resource=compute/cores&zone=west-1")
    page.get_by_role("checkbox", name=numbered(first)).check()
    expect(page.get_by_text("Choose at least two")).to_be_visible()
    page.get_by_role("checkbox", name=numbered(second)).check()
    page.get_by_role("button", name="Merge 2 chosen").click()
    assert violations(page) == []
    page.get_by_role("button", name="Merge 2 commitments").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    merged = max(listed(cloud))
    assert listed(cloud)[merged]["amount"] == 2

    dialog = manage(page, merged, "Renew automatically")
    dialog.locator("form").get_by_role("button", name="Renew automatically").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert listed(cloud)[merged]["auto_renew"] is True
    dialog = manage(page, merged)
    expect(dialog.get_by_text("automatic, before it ends")).to_be_visible()
    dialog.get_by_role("button", name="Stop renewing").click()
    dialog.locator("form").get_by_role("button", name="Stop renewing").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert "auto_renew" not in listed(cloud)[merged]

    dialog = manage(page, longer, "Change duration")
    dialog.get_by_label("New duration").select_option("1 year")
    dialog.locator("form").get_by_role("button", name="Change duration").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert listed(cloud)[longer]["duration"] == "1 year"

    dialog = manage(page, merged, "Renew")
    dialog.locator("form").get_by_role("button", name="Renew").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    renewal = max(listed(cloud))
    dialog = manage(page, merged)
    expect(dialog.get_by_role("button", name="Renew", exact=True)).to_be_disabled()
    expect(dialog.get_by_text("Renew, Change duration: It was renewed already.")).to_be_visible()
    expect(dialog.get_by_role("button", name="Change duration")).to_be_disabled()

    dialog.get_by_role("button", name="Convert", exact=True).click()
    dialog.get_by_label("How much of it").fill("1")
    expect(dialog.get_by_text("1 Virtual cores become 4 GiB ram.")).to_be_visible()
    assert violations(page) == []
    dialog.locator("form").get_by_role("button", name="Convert").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert {(one["resource_name"], one["amount"]) for one in listed(cloud).values() if one["id"] > renewal} == {
        ("cores", 1),
        ("ram", 4 * _GIB),
    }

    dialog = manage(page, renewal)
    expect(dialog.get_by_role("button", name="Delete")).to_have_count(0)
    admin = open_as(CLOUD_ADMIN, f"/ui{OF_SHOP}?do=manage&id={renewal}")
    admin.get_by_role("button", name="Delete", exact=True).click()
    admin.get_by_role("button", name="Delete permanently").click()
    expect(admin.get_by_role("dialog")).to_have_count(0)
    assert renewal not in listed(cloud)


@pytest.mark.long
def test_who_may_only_look_is_offered_nothing(open_as: OpenPage, cloud: DashboardCloud) -> None:
    number = commit(cloud)["id"]
    page = open_as(SHOP_MEMBER, f"/ui{OF_SHOP}")
    expect(page.get_by_text("Your role may look at commitments here, not change them.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^(Buy|Accept transfer|Commit to .*)$"))).to_have_count(0)
    dialog = manage(page, number)
    expect(dialog.get_by_role("heading", name="10 GiB capacity in any zone")).to_be_visible()
    expect(dialog.get_by_role("list", name="What can be done")).to_have_count(0)
    assert violations(page) == []
    page.goto(f"/ui{OF_SHOP}?do=buy")
    expect(page.get_by_text("Your role may look")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.long
def test_back_closes_a_dialog_and_filters_stay_in_the_address(open_as: OpenPage, cloud: DashboardCloud) -> None:
    number = commit(cloud, amount=13)["id"]
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}")
    page.get_by_label("Resource").select_option("storage/capacity")
    expect(page).to_have_url(re.compile("resource=storage"))
    manage(page, number)
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto(f"/ui{OF_SHOP}?do=manage&id=999999&resource=storage/capacity")
    expect(page.get_by_role("dialog")).to_contain_text("This project has no commitment with the number 999999.")
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("do=manage"))  # the browser hides the dialog a moment before that
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Resource")).to_have_value("storage/capacity")
    page.get_by_role("searchbox", name="Search").fill("nobody has that")
    expect(page.get_by_text("No commitment matches.")).to_be_visible()


@pytest.mark.long
def test_on_a_phone_nothing_is_wider_than_the_screen(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}", viewport=PHONE)
    page.get_by_role("button", name="Buy").click()
    page.get_by_role("dialog").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert violations(page) == []


@pytest.mark.long
def test_admins_find_a_project_among_thousands(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN, "/ui/commitments")
    expect(page.get_by_text(f"of {PROJECTS + 4:,}")).to_be_visible()
    page.get_by_label("Also projects without commitments").check()
    expect(page.get_by_text(f"{PROJECTS + 4:,} in all")).to_be_visible()
    assert page.get_by_role("region", name="Projects with commitments").get_by_role("row").count() < 60
    assert violations(page) == []
    page.get_by_role("searchbox").fill("library")
    expect(page.get_by_role("link", name="library", exact=True)).to_be_visible()
    page.get_by_role("searchbox").fill("shop")
    page.get_by_role("region", name="Projects with").get_by_role("link", name="shop", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Commitments shop")
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/commitments")
    page.get_by_label("Also projects without commitments").check()
    expect(page.get_by_text("3 in all")).to_be_visible()


@pytest.mark.long
def test_what_is_used_wasted_and_about_to_end(open_as: OpenPage, cloud: DashboardCloud) -> None:
    commit(cloud, OF_ANALYTICS, service_type="compute", resource_name="cores", availability_zone="west-1", amount=16)
    soon = commit(cloud, service_type="compute", resource_name="cores", availability_zone="west-2", duration="1 hour")
    summary = cloud.request("GET", "/v1/commitment-summary?service=compute&resource=cores").json()
    (west_1,) = (one for one in summary["commitment_summary"] if one["availability_zone"] == "west-1")
    assert west_1["unused"] >= 6  # analytics uses 10 there
    for token, path, domain in ((CLOUD_ADMIN, "/ui/commitments", True), (ACME_ADMIN, OF_ACME, False)):
        page = open_as(token, path)
        row = page.get_by_role("region", name="Commitments by resource and zone").get_by_role(
            "row", name="Virtual cores in west-1"
        )
        cells = row.get_by_role("cell")
        expect(cells.nth(1)).to_have_text(str(west_1["committed"]))
        expect(cells.nth(2)).to_contain_text(f"{west_1['used']} ")
        expect(cells.nth(3)).to_contain_text(f"{west_1['unused']} ")
        expect(cells.nth(5)).to_have_text(re.compile(r"\d+ %"))
        assert violations(page) == []
        ending = page.get_by_role("region", name="Commitments that end within 30 days")
        expect(ending.locator(f"a[href*='id={soon['id']}']")).to_be_visible()
        expect(ending.get_by_role("columnheader", name="Domain")).to_have_count(int(domain))
        page.get_by_label("Ends within").select_option("365")
        expect(page.get_by_role("columnheader", name="Ends within 365 days")).to_be_visible()
        row.get_by_role("button").click()
        expect(page.get_by_role("combobox", name="Resource")).to_have_value("compute/cores")
        expect(page.get_by_role("region", name="Projects with commitments of Virtual cores")).to_contain_text(
            "analytics"
        )
