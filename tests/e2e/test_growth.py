"""Quota that grows by itself: nobody is offered to set it, but to limit its growth; and what it is made of.

A cloud of its own, in which RAM grows, has no domain with many projects.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import (
    ACME,
    ACME_ADMIN,
    ANALYTICS,
    FEW_PROJECTS,
    SHOP,
    SHOP_ADMIN,
    SHOP_MEMBER,
    DashboardCloud,
    NewCloud,
)
from tests.support.processes import eventually

GROWING_RAM = {
    "resource": "compute/ram",
    "model": "autogrow",
    "autogrow": {"growth_multiplier": 1.5, "usage_data_retention_period": "48h"},
}
PROJECT = f"/ui/domains/{ACME}/projects/{SHOP}"


@pytest.fixture(scope="module")
def cloud(new_cloud: NewCloud) -> Iterator[DashboardCloud]:
    """This file's own."""
    with new_cloud(**FEW_PROJECTS, quota_distribution_configs=[GROWING_RAM]) as made:
        made.start(fill=False)
        collect_until_quota(made, 60)
        yield made


def open_ram(page: Page) -> None:
    page.locator(".resource-box").filter(has_text="ram").locator("summary.resource").click()


def test_a_project_admin_limits_growth_and_takes_the_limit_away(open_as: OpenPage, cloud: DashboardCloud) -> None:
    set_bound(cloud, "max-quota", max_quota=None)
    collect_until_quota(cloud, 60)
    page = open_as(SHOP_ADMIN, PROJECT)
    open_ram(page)
    ram = page.locator(".resource-box").filter(has_text="ram")
    expect(ram).to_contain_text("It grows by itself")
    expect(ram.get_by_role("list", name="Availability zones of ram")).to_contain_text("30 GiB / 45 GiB")
    ram.get_by_role("button", name="Limit growth").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Largest quota")
    field.fill("50")
    expect(dialog.get_by_role("button", name="Limit growth")).to_be_enabled()
    field.fill("many")
    expect(dialog.get_by_role("button", name="Limit growth")).to_be_disabled()
    field.fill("50 GiB")
    assert violations(page) == []
    dialog.get_by_role("button", name="Limit growth").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("Saved. The quota of ram follows in a moment.")).to_be_visible()
    expect(ram).to_contain_text("Limit of growth")
    collect_until_quota(cloud, 50)
    page.reload()
    expect(ram.get_by_text("/ 50 GiB").first).to_be_visible()
    open_ram(page)
    ram.get_by_role("button", name="Limit growth").click()
    field.fill("")
    dialog.get_by_role("button", name="Take the limit away").click()
    expect(dialog).to_be_hidden()
    expect(ram).not_to_contain_text("Limit of growth")


def set_bound(cloud: DashboardCloud, what: str, **bound: object) -> None:
    """Of the project's RAM, without the dashboard."""
    document = {"project": {"services": [{"type": "compute", "resources": [{"name": "ram", **bound}]}]}}
    answer = cloud.request("PUT", f"/v1/domains/{ACME}/projects/{SHOP}/{what}", json=document)
    assert answer.status_code == 202, answer.text


def ram_of(cloud: DashboardCloud, project: str) -> Any:
    return cloud.resource(f"/v1/domains/{ACME}/projects/{project}", name="ram")


def collect_until_quota(cloud: DashboardCloud, gib: int) -> None:
    """Quota follows usage, capacity and bounds, each of which is collected in its own time."""

    def is_there() -> bool:
        cloud.collect()
        return bool(ram_of(cloud, SHOP).get("quota") == gib * 1024)

    eventually(f"shop has {gib} GiB", is_there)


@pytest.mark.long
def test_a_limit_that_is_too_low_is_said_to_wait(open_as: OpenPage, cloud: DashboardCloud) -> None:
    set_bound(cloud, "max-quota", max_quota=None)
    page = open_as(SHOP_ADMIN, f"{PROJECT}?do=limit-growth&of=compute/ram")
    page.get_by_role("dialog").get_by_label("Largest quota").fill("1 GiB")
    page.get_by_role("dialog").get_by_role("button", name="Limit growth").click()
    expect(page.get_by_text("the limit of 1 GiB takes effect when they need no more than that")).to_be_visible()


@pytest.mark.long
def test_growth_is_stopped_and_allowed_again(open_as: OpenPage, cloud: DashboardCloud) -> None:
    set_bound(cloud, "forbid-autogrowth", forbid_autogrowth=False)
    page = open_as(SHOP_ADMIN, PROJECT)
    open_ram(page)
    ram, dialog = page.locator(".resource-box").filter(has_text="ram"), page.get_by_role("dialog")
    ram.get_by_role("button", name="Stop growth").click()
    expect(dialog).to_contain_text("only what usage and commitments need")
    assert violations(page) == []
    dialog.get_by_role("button", name="Stop growth").click()
    expect(ram).to_contain_text("What usage and commitments need")
    ram.get_by_role("button", name="Let it grow again").click()
    dialog.get_by_role("button", name="Let it grow again").click()
    expect(ram).to_contain_text("It grows by itself")


@pytest.mark.long
def test_who_may_only_look_is_offered_nothing(open_as: OpenPage) -> None:
    page = open_as(SHOP_MEMBER, PROJECT)
    open_ram(page)
    expect(page.locator(".resource-box").filter(has_text="ram")).to_contain_text("It grows by itself")
    expect(page.get_by_role("button", name="growth")).to_have_count(0)


@pytest.mark.long
def test_a_domain_admin_limits_all_projects(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}")
    open_ram(page)
    ram, dialog = page.locator(".resource-box").filter(has_text="ram"), page.get_by_role("dialog")
    ram.get_by_role("button", name="Limit growth").click()
    expect(dialog).to_contain_text("each project that the domain has now")
    dialog.get_by_label("Largest quota").fill("300 GiB")
    dialog.get_by_role("button", name="Limit growth").click()
    expect(dialog).to_be_hidden()
    for project in (SHOP, ANALYTICS):
        assert ram_of(cloud, project)["max_quota"] == 300 * 1024


@pytest.mark.long
def test_tables_and_forms_offer_no_quota_to_set(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/projects?resource=compute/ram")
    expect(page.get_by_role("button", name="Limit growth of shop", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Set quota of shop", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Limit growth of analytics").click()
    expect(page.get_by_role("dialog").get_by_label("Largest quota")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    page.get_by_label("Resource").select_option("compute/cores")
    expect(page.get_by_role("button", name="Set quota of shop", exact=True)).to_be_visible()
    page.get_by_role("link", name="Set quota", exact=True).first.click()
    expect(page.get_by_label("Virtual cores")).to_be_visible()
    expect(page.get_by_label("ram")).to_have_count(0)


@pytest.mark.long
def test_the_explanation_says_what_it_is_made_of(open_as: OpenPage) -> None:
    page = open_as(SHOP_MEMBER, f"{PROJECT}/history?resource=compute/ram")
    explained = page.get_by_role("region", name="Explanation")
    expect(explained).to_contain_text("it follows usage and commitments by itself")
    expect(explained).to_contain_text("For usage and commitments")
    expect(explained).to_contain_text("Commit to")
    expect(explained).not_to_contain_text("You could")
    assert violations(page) == []
