"""What was used over time as a file: for each level, for those who may read it, and in as many pages as it takes."""

import csv
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import ACME, ACME_ADMIN, CLOUD_VIEWER, OVERSPENT, SHOP, SHOP_MEMBER, STAGING, DashboardCloud
from tests.e2e.test_copied_commands import TOOLS, copied_from, paste
from tests.e2e.test_lists import asked
from tests.e2e.test_tables import exported

__all__ = ["paste"]

DOMAIN, PROJECT = f"/ui/domains/{ACME}", f"/ui/domains/{ACME}/projects/{SHOP}"
THIS_MONTH = datetime.now(UTC).strftime("%Y-%m")
Rows = list[dict[str, str]]


def downloaded(page: Page, folder: Path) -> tuple[str, Rows]:
    """The name of the file that a page gives, and its rows."""
    name, (header, *rows) = exported(page, folder, "Download CSV")
    return name, [dict(zip(header, row, strict=True)) for row in rows]


@pytest.mark.parametrize(
    ("token", "path", "name", "some"),
    [
        pytest.param(CLOUD_VIEWER, "/ui/usage-report", "cloud", {"shop", "library", "lab-0004"}, id="cloud"),
        pytest.param(
            ACME_ADMIN, f"{DOMAIN}/usage-report", "acme", {"shop", "analytics"}, id="domain", marks=pytest.mark.long
        ),
        pytest.param(
            SHOP_MEMBER, f"{PROJECT}/usage-report", "acme-shop", {"shop"}, id="project", marks=pytest.mark.long
        ),
    ],
)
def test_the_month_in_which_metering_began(
    open_as: OpenPage, tmp_path: Path, token: str, path: str, name: str, some: set[str]
) -> None:
    page = open_as(token)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Usage report").first.click()
    expect(page).to_have_url(re.compile(f"{path}$"))
    expect(page.get_by_label("Month")).to_have_value(THIS_MONTH)  # there is no account of the one before
    assert violations(page) == []
    page.get_by_text("Preview", exact=True).click()
    preview = page.get_by_role("region", name="First rows of the report")
    expect(preview.get_by_role("row").nth(1)).to_contain_text(re.compile(r"1 \w+ \d{4}, 00:00 UTC.* h"))
    assert violations(page) == []
    file, rows = downloaded(page, tmp_path)
    assert file == f"limes-usage-{name}-{THIS_MONTH}.csv"
    assert {row["project_name"] for row in rows} >= some
    assert {row["domain_name"] for row in rows} == ({"acme"} if token != CLOUD_VIEWER else {"acme", "school", "campus"})
    of_shop = [row for row in rows if row["project_name"] == "shop" and row["resource_name"] == "cores"]
    assert [(row["availability_zone"], row["last"]) for row in of_shop] == [("", "20")]  # in both zones
    assert {row["from"] for row in rows} == {f"{THIS_MONTH}-01T00:00:00Z"}
    expect(page.get_by_text(f"{len(rows):,} rows. The time is not closed yet")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize(
    ("token", "path", "name"),
    [(ACME_ADMIN, DOMAIN, "acme"), (SHOP_MEMBER, PROJECT, "acme-shop")],
    ids=["domain", "project"],
)
def test_the_last_month_is_offered_first_where_there_is_an_account_of_it(
    open_as: OpenPage, token: str, path: str, name: str
) -> None:
    last_month = (datetime.now(UTC).replace(day=1) - timedelta(days=1)).strftime("%Y-%m")
    page = open_as(token)

    def answer(route: Route) -> None:
        is_refused = token == SHOP_MEMBER and "limit=" in route.request.url  # the report of a project takes no limit
        if f"from={last_month}-01" in route.request.url and not is_refused:
            route.fulfill(json={"usage_report": {"entries": [], "links": []}})
        else:
            route.continue_()

    page.route("**/usage-reports?*", answer)
    page.goto(f"{path}/usage-report")
    expect(page.get_by_label("Month")).to_have_value(last_month)
    expect(page.get_by_text(f"limes-usage-{name}-{last_month}.csv", exact=True)).to_be_visible()
    page.get_by_label("Month").select_option(THIS_MONTH)
    expect(page).to_have_url(re.compile(f"month={THIS_MONTH}"))


@pytest.mark.long
def test_pages_become_one_file_with_one_header(open_as: OpenPage, tmp_path: Path) -> None:
    page = open_as(ACME_ADMIN)
    page.goto(f"{DOMAIN}/usage-report")
    _, at_once = downloaded(page, tmp_path)

    def one_project_a_page(route: Route) -> None:
        url = route.request.url
        route.continue_(url=url if "limit=" in url else f"{url}&limit=1")  # the links have the limit, too

    page.route("**/usage-reports?*", one_project_a_page)
    paths = asked(page)
    _, rows = downloaded(page, tmp_path)
    assert len({row["project_id"] for row in rows}) > 1
    names = ("project_id", "resource_name", "availability_zone", "last")
    assert [[row[name] for name in names] for row in rows] == [[row[name] for name in names] for row in at_once]
    markers = [re.findall("marker=([^&]*)", path) for path in paths if "/usage-reports?" in path]
    assert markers == [[], [SHOP], [STAGING]]


@pytest.mark.long
def test_days_of_many_projects(open_as: OpenPage, tmp_path: Path) -> None:
    """Then a page has a few hundred projects. Most of them have used nothing."""
    today = datetime.now(UTC).date()
    last = today + timedelta(days=40)
    page = open_as(CLOUD_VIEWER)
    page.goto(f"/ui/usage-report?month=days&first={today}&last={last}&each=day&resource=compute/cores")
    expect(page.get_by_label("Last day")).to_have_value(str(last))
    expect(page.get_by_label("Resource")).to_have_value("compute/cores")
    paths = asked(page)
    file, rows = downloaded(page, tmp_path)
    assert file == f"limes-usage-cloud-compute-cores-{today}-to-{last}-by-day.csv"
    assert len([path for path in paths if path.startswith("usage-reports?")]) > 1
    assert {row["project_name"] for row in rows} >= {"shop", "analytics", "library", OVERSPENT}
    assert {(row["service_type"], row["resource_name"]) for row in rows} == {("compute", "cores")}


@pytest.mark.long
def test_what_is_refused_is_said_and_can_be_corrected(open_as: OpenPage, tmp_path: Path) -> None:
    page = open_as(ACME_ADMIN)
    page.goto(f"{DOMAIN}/usage-report")
    page.get_by_label("Month").select_option(label="Other days")
    page.get_by_label("First day").fill("2019-12-31")
    page.get_by_label("Last day").fill("2020-01-30")
    expect(page.get_by_text("These are not whole months")).to_be_visible()
    expect(page.get_by_role("button", name="Download CSV")).to_be_disabled()
    page.get_by_label("A row for each").select_option(label="All of the time")
    page.get_by_role("button", name="Download CSV").click()
    expect(page.get_by_role("alert").filter(has_text="the account of usage begins on")).to_be_visible()
    assert violations(page) == []
    page.get_by_label("Month").select_option(THIS_MONTH)
    page.get_by_label("A row for each").select_option(label="Month")
    assert downloaded(page, tmp_path)[1]
    expect(page.get_by_text("the account of usage begins on")).to_have_count(0)


@pytest.mark.long
def test_an_answer_that_breaks_off_is_not_saved(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN)
    page.goto(f"{DOMAIN}/usage-report")
    expect(page.get_by_label("Month")).to_have_value(THIS_MONTH)
    downloads: list[object] = []
    page.on("download", lambda download: downloads.append(download))
    page.route(
        "**/usage-reports?*", lambda route: route.fulfill(body="project_id,closed,version\r\np1,true", status=200)
    )
    page.get_by_role("button", name="Download CSV").click()
    expect(page.get_by_role("alert").filter(has_text="broke off before its end")).to_be_visible()
    assert downloads == []


@pytest.mark.long
def test_a_download_can_be_cancelled(open_as: OpenPage, tmp_path: Path) -> None:
    page = open_as(ACME_ADMIN)
    page.goto(f"{DOMAIN}/usage-report")
    expect(page.get_by_label("Month")).to_have_value(THIS_MONTH)
    page.route("**/usage-reports?*", lambda route: None)  # there is no answer
    page.get_by_role("button", name="Download CSV").click()
    expect(page.get_by_text("Downloading: 0 rows so far")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_role("main").locator(".problem")).to_have_count(0)
    page.unroute("**/usage-reports?*")
    assert downloaded(page, tmp_path)[1]


@pytest.mark.long
def test_who_may_not_read_it_is_told_so(open_as: OpenPage) -> None:
    page = open_as(SHOP_MEMBER)
    for path in ("/ui/usage-report", f"{DOMAIN}/usage-report"):
        page.goto(path)
        expect(page.get_by_role("alert").filter(has_text="Not for your role")).to_be_visible()
        expect(page.get_by_role("button", name="Download CSV")).to_have_count(0)
    links = page.get_by_role("navigation", name="Main").get_by_role("link", name="Usage report")
    assert {link.get_attribute("href") for link in links.all()} <= {f"{PROJECT}/usage-report"}


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("token", "path"),
    [(CLOUD_VIEWER, "/ui"), (ACME_ADMIN, DOMAIN), (SHOP_MEMBER, PROJECT)],
    ids=["cloud", "domain", "project"],
)
def test_the_same_as_a_command(
    open_as: OpenPage,
    cloud: DashboardCloud,
    paste: Callable[..., str],
    tmp_path: Path,
    tool: str,
    token: str,
    path: str,
) -> None:
    page = open_as(token)
    page.goto(f"{path}/usage-report?resource=compute/cores")
    expect(page.get_by_label("Resource")).to_have_value("compute/cores")
    command = copied_from(page.get_by_role("main"), tool)
    printed = paste(f"cd {tmp_path} && {command}", token)
    _, rows = downloaded(page, tmp_path / "page")
    if tool == "curl":
        (file,) = tmp_path.glob("*.csv")
        with file.open(newline="") as lines:
            assert [row["last"] for row in csv.DictReader(lines)] == [row["last"] for row in rows]
    else:
        assert [row["Last"] for row in csv.DictReader(printed.splitlines())] == [row["last"] for row in rows]
