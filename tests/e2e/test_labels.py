"""Labels of projects: an admin sets them, a member sees them, and the list of projects is filtered by them."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import ACME, ACME_ADMIN, STAGING, DashboardCloud

PROJECT = f"domains/{ACME}/projects/{STAGING}"


@pytest.fixture
def no_labels(cloud: DashboardCloud) -> Iterator[None]:
    """The project has none afterwards, as before."""
    yield
    cloud.request("PUT", f"/v1/{PROJECT}/labels", json={"labels": {}})


def fill(page: Page, number: int, key: str, value: str) -> None:
    """Types a label."""
    entry = page.get_by_role("dialog").get_by_role("group", name=f"Label {number}", exact=True)
    entry.get_by_label("Key").fill(key)
    entry.get_by_label("Value").fill(value)


@pytest.mark.usefixtures("no_labels")
def test_labels_are_set_and_filter_the_list(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN, f"/ui/{PROJECT}")
    page.get_by_role("button", name="Add labels").click()
    save = page.get_by_role("button", name="Save labels")
    expect(save).to_be_disabled()
    fill(page, 1, "Env", "prod")
    expect(page.get_by_label("Key")).to_have_attribute("aria-invalid", "true")
    expect(save).to_be_disabled()
    fill(page, 1, "env", "prod")
    page.get_by_role("button", name="Add label", exact=True).click()
    fill(page, 2, "owner", "web team")
    assert violations(page) == []
    page.get_by_text("The same as a command").click()
    expect(page.get_by_text("--label 'owner=web team'")).to_be_visible()
    save.click()
    labels = page.get_by_role("region", name="Labels")
    expect(labels.get_by_role("listitem")).to_have_text(["env: prod", "owner: web team"])
    assert violations(page) == []
    labels.get_by_role("link", name="env: prod").click()
    expect(page).to_have_url(re.compile(r"/projects\?label=env%3Aprod$"))
    expect(page.get_by_text("1 in all")).to_be_visible()
    expect(page.get_by_role("rowheader")).to_have_text("shop-staging")
    field = page.get_by_label("Label", exact=True)
    field.fill("env:test")
    expect(page.get_by_text("No project matches.")).to_be_visible()
    field.fill("Env")
    expect(field).to_have_attribute("aria-invalid", "true")
    assert violations(page) == []
    field.fill("")
    expect(page.get_by_text("3 in all")).to_be_visible()


@pytest.mark.usefixtures("no_labels")
def test_who_may_not_set_them_sees_them(open_as: OpenPage, cloud: DashboardCloud) -> None:
    cloud.request("PUT", f"/v1/{PROJECT}/labels", json={"labels": {"env": "prod"}})
    page = open_as("cloud-viewer", f"/ui/{PROJECT}")
    expect(page.get_by_role("region", name="Labels").get_by_role("listitem")).to_have_text(["env: prod"])
    expect(page.get_by_role("button", name="labels")).to_have_count(0)
