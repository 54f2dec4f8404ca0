"""Setting quota: each role sees at once what the API would say, and nobody overwrites what others have changed."""

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import (
    ACME,
    ACME_ADMIN,
    ANALYTICS,
    CLOUD_ADMIN,
    LIBRARY,
    SCHOOL,
    SHOP,
    SHOP_ADMIN,
    STAGING,
    DashboardCloud,
)


def test_a_cloud_admin_sees_a_refusal_and_raises_a_domain_quota(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(CLOUD_ADMIN, f"/ui/domains/{SCHOOL}/quota")
    field, save = page.get_by_label("capacity"), page.get_by_role("button", name="Save quota")
    field.fill("90 TiB")
    expect(page.get_by_text("would be refused")).to_be_visible()
    verdict = page.locator("[data-state=refused] .verdict")
    expect(verdict).to_contain_text("at most")
    expect(save).to_be_disabled()
    assert violations(page) == []
    field.fill("50 GiB")
    expect(verdict).to_contain_text("at least 100 GiB")
    field.fill("+25%")
    expect(page.get_by_text("This would be accepted.")).to_be_visible()
    save.click()
    expect(page.get_by_text("Quota of school saved.")).to_be_visible()
    expect(field).to_have_value("")
    assert cloud.resource(f"/v1/domains/{SCHOOL}", "storage", "capacity")["quota"] == 1250


@pytest.mark.long
def test_a_domain_quota_beyond_the_capacity_is_accepted_and_said(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(CLOUD_ADMIN, f"/ui/domains/{SCHOOL}/quota")
    before = cloud.resource(f"/v1/domains/{SCHOOL}")["quota"]
    field, save = page.get_by_label("Virtual cores"), page.get_by_role("button", name="Save quota")
    field.fill("1000000")
    expect(page.get_by_text("not all of it can be used at the same time")).to_be_visible()
    expect(page.get_by_text("This would be accepted.")).to_be_visible()
    assert violations(page) == []
    field.fill(str(before - 1))
    expect(page.get_by_text("not all of it can be used at the same time")).to_have_count(0)
    expect(save).to_be_enabled()


@pytest.mark.long
def test_what_cannot_be_read_is_said_at_the_field(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN, f"/ui/domains/{SCHOOL}/quota")
    page.get_by_label("ram").fill("1.3 MiB")
    expect(page.get_by_text("Not a whole number of MiB")).to_be_visible()
    expect(page.get_by_role("button", name="Save quota")).to_be_disabled()


def test_a_domain_admin_distributes_from_the_table(open_as: OpenPage, cloud: DashboardCloud) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/projects?resource=compute/cores")
    page.get_by_role("button", name="Set quota of shop-staging").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Virtual cores")
    expect(field).to_be_visible()
    assert violations(page) == []
    field.fill("100000")
    expect(dialog.get_by_text("domain quota exceeded: at most")).to_be_visible()
    field.fill("12")
    expect(dialog.get_by_text("This would be accepted.")).to_be_visible()
    field.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("row", name="shop-staging")).to_contain_text("12")
    assert cloud.resource(f"/v1/domains/{ACME}/projects/{STAGING}")["quota"] == 12


@pytest.mark.long
def test_the_outermost_quotas_are_one_click_away(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/projects/{ANALYTICS}/quota")
    page.get_by_role("button", name="58").click()
    expect(page.get_by_label("Virtual cores")).to_have_value("58")
    expect(page.get_by_text("This would be accepted.")).to_be_visible()


@pytest.mark.long
def test_a_project_admin_may_lower_but_not_raise(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN, f"/ui/domains/{ACME}/projects/{SHOP}/quota")
    page.get_by_label("ram").fill("90 GiB")
    expect(page.get_by_text("user is not allowed to raise")).to_be_visible()
    page.get_by_label("ram").fill("70 GiB")
    expect(page.get_by_text("This would be accepted.")).to_be_visible()


def test_nobody_overwrites_what_somebody_else_has_changed(open_as: OpenPage, cloud: DashboardCloud) -> None:
    path = f"{SCHOOL}/projects/{LIBRARY}"
    page = open_as(CLOUD_ADMIN, f"/ui/domains/{path}/quota")
    field = page.get_by_label("Virtual cores")
    field.fill("30")
    expect(page.get_by_text("This would be accepted.")).to_be_visible()
    cloud.put_quota(f"/v1/domains/{path}", compute={"cores": 11})
    page.get_by_role("button", name="Save quota").click()
    expect(page.get_by_role("alert").filter(has_text="Someone else has changed quotas in the meantime")).to_be_visible()
    assert cloud.resource(f"/v1/domains/{path}")["quota"] == 11
    expect(page.get_by_text("now 11")).to_be_visible()
    expect(field).to_have_value("30")
    expect(page.get_by_text("This would be accepted.")).to_be_visible()
    page.get_by_role("button", name="Save quota").click()
    expect(page.get_by_text("Quota of library saved.")).to_be_visible()
    assert cloud.resource(f"/v1/domains/{path}")["quota"] == 30


def test_the_history_tells_who_and_why(open_as: OpenPage, cloud: DashboardCloud) -> None:
    path = f"{SCHOOL}/projects/{LIBRARY}"
    for quota in (20, 25):
        cloud.put_quota(f"/v1/domains/{path}", compute={"cores": quota})
    page = open_as(CLOUD_ADMIN, f"/ui/domains/{path}")
    cores = page.locator(".resource-box").filter(has_text="Virtual cores")
    cores.locator("summary.resource").click()
    cores.get_by_role("link", name="History and explanation").click()
    expect(page.get_by_role("region", name="Explanation")).to_contain_text("It was set to this by Ruth")
    expect(page.get_by_role("region", name="Explanation")).to_contain_text("You could lower it to 9")
    expect(page.get_by_role("img", name="Quota over time")).to_be_visible()
    newest = page.get_by_role("region", name="Changes of quota").get_by_role("row").nth(1)
    expect(newest).to_contain_text("20")
    expect(newest).to_contain_text("25")
    assert violations(page) == []
