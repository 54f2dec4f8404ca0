"""Tables as files, and addresses that lead to what somebody else has seen."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import OpenPage
from tests.e2e.cloud import ACME, ACME_ADMIN, CLOUD_ADMIN, PROJECTS, SHOP, SHOP_ADMIN, DashboardCloud
from tests.e2e.test_commitments import OF_SHOP, commit

_GIB = 1024


def exported(page: Page, folder: Path, button: str = "Export CSV") -> tuple[str, list[list[str]]]:
    """The name of the file that a page gives, and its rows."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        return path.name, list(csv.reader(file, strict=True))


def test_projects_as_a_file(open_as: OpenPage, tmp_path: Path) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/projects?resource=compute/ram&sort=-usage&search=shop")
    expect(page.get_by_role("row")).to_have_count(3)
    name, (header, *rows) = exported(page, tmp_path)
    assert re.fullmatch(r"projects-of-acme-\d{4}-\d\d-\d\d\.csv", name)
    titles = ["Project", "Project ID", "Quota (MiB)", "Used (MiB)", "Committed (MiB)", "Use of quota (%)"]
    assert header == titles
    assert [row[0] for row in rows] == ["shop", "shop-staging"]  # as sorted and searched
    assert rows[0][1] == SHOP
    assert rows[0][3] == str(40 * _GIB)


@pytest.mark.long
def test_all_rows_are_in_the_file_not_only_those_in_sight(open_as: OpenPage, tmp_path: Path) -> None:
    page = open_as(CLOUD_ADMIN, "/ui/projects?resource=compute/cores")
    expect(page.get_by_text(f"{PROJECTS + 4:,} in all")).to_be_visible()
    _, (header, *rows) = exported(page, tmp_path)
    assert len(rows) == PROJECTS + 4
    assert header[:4] == ["Project", "Project ID", "Domain", "Domain ID"]


@pytest.mark.long
def test_commitments_as_a_file(open_as: OpenPage, cloud: DashboardCloud, tmp_path: Path) -> None:
    made = commit(cloud, amount=17)
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}?search={made['uuid']}")
    expect(page.get_by_role("row")).to_have_count(2)
    _, (header, row) = exported(page, tmp_path)
    found = dict(zip(header, row, strict=True))
    assert (found["Service"], found["Resource"], found["Amount"], found["Unit"]) == ("storage", "capacity", "17", "GiB")
    assert (found["Number"], found["UUID"], found["State"]) == (str(made["id"]), made["uuid"], "confirmed")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["Ends"])


@pytest.mark.long
def test_the_history_as_a_file(open_as: OpenPage, tmp_path: Path) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/projects/{SHOP}/history?resource=compute/ram")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    _, (header, *rows) = exported(page, tmp_path)
    assert header == ["When", "What", "From", "To", "Unit", "Who", "Why"]
    assert rows[-1][3:5] == [str(80 * _GIB), "MiB"]


def test_a_link_leads_to_the_same_rows_and_dialog(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/projects?resource=compute/cores")
    page.get_by_role("button", name="Used").click()
    page.get_by_label("Search").fill("shop")
    expect(page.get_by_text("2 of 3")).to_be_visible()
    page.get_by_role("button", name="Set quota of shop", exact=True).click()
    expect(page.get_by_role("dialog", name="Quota of shop")).to_be_visible()
    link = page.url

    other = open_as(ACME_ADMIN)
    other.goto(link)
    expect(other.get_by_role("dialog", name="Quota of shop")).to_be_visible()
    other.keyboard.press("Escape")
    expect(other).not_to_have_url(re.compile("do=quota"))
    expect(other.get_by_label("Search")).to_have_value("shop")
    expect(other.get_by_role("columnheader", name="Used")).to_have_attribute("aria-sort", "descending")
    expect(other.locator("tbody tr").first).to_contain_text("shop")
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.long
def test_a_link_leads_to_what_one_is_about_to_do(open_as: OpenPage, cloud: DashboardCloud) -> None:
    number = commit(cloud, amount=18)["id"]
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}")
    page.get_by_role("button", name=f"(number {number})").click()
    page.get_by_role("dialog").get_by_role("button", name="Change duration").click()
    expect(page).to_have_url(re.compile("act=duration"))
    page.reload()
    expect(page.get_by_role("dialog", name="18 GiB capacity in any zone")).to_contain_text("Change duration")
    page.goto(f"/ui{OF_SHOP}?do=manage&id={number}&act=nonsense&sort=-nonsense")
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.long
def test_resources_with_different_units_have_a_column_for_them(open_as: OpenPage, tmp_path: Path) -> None:
    page = open_as(CLOUD_ADMIN, "/ui/inconsistencies?list=overspent")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    _, (header, *rows) = exported(page, tmp_path)
    assert header == ["Project", "Domain", "Resource", "Unit", "Quota", "Used", "Difference"]
    assert all(row[4].isdigit() and row[5].isdigit() for row in rows)
