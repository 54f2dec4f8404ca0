"""What changed yesterday or today, and by whom: in the cloud, a domain and a project."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import ACME, CLOUD_ADMIN, SHOP, SHOP_ADMIN, DashboardCloud

PROJECT = f"/v1/domains/{ACME}/projects/{SHOP}"


@pytest.fixture
def before(cloud: DashboardCloud) -> Iterator[int]:
    """The quota of cores, which is lowered by one meanwhile: others have the same cloud."""
    quota = int(cloud.resource(PROJECT)["quota"])
    cloud.put_quota(PROJECT, compute={"cores": quota - 1})
    yield quota
    cloud.put_quota(PROJECT, compute={"cores": quota})


def test_what_changed_and_by_whom_in_two_clicks(open_as: OpenPage, before: int) -> None:
    page = open_as(SHOP_ADMIN)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Changes").click()
    row = page.get_by_role("row").filter(
        has_text=f"lowered the quota of compute/cores of project acme/shop from {before}"
    )
    expect(row.first).to_contain_text("on request")
    assert violations(page) == []
    row.first.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("History shop")
    page.go_back()
    page.get_by_label("What").select_option("commitment")
    expect(page.get_by_text("lowered the quota")).to_have_count(0)
    page.get_by_label("What").select_option("")
    page.get_by_label("Who (name or id)").fill("nobody of this name")
    expect(page.get_by_text("Nothing was changed in this time, as far as the filters go.")).to_be_visible()


def test_a_cloud_admin_goes_from_the_cloud_to_a_person(open_as: OpenPage, before: int) -> None:
    page = open_as(CLOUD_ADMIN)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Changes").first.click()
    row = page.get_by_role("row").filter(has_text=f"from {before} to {before - 1}").first
    person = row.get_by_title("All changes by this user")
    name = person.inner_text()
    person.click()
    expect(page.get_by_label("Who (name or id)")).not_to_have_value("")
    expect(page.get_by_title("All changes by this user").first).to_have_text(name)
    page.get_by_role("row").filter(has_text="shop").get_by_role("link", name="shop", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Changes shop")
