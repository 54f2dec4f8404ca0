"""Nothing is cut off: each dialog on screens of four sizes, long texts in tables, and fields above sticky bars."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.axe import violations
from tests.e2e.browser import PHONE, OpenPage
from tests.e2e.cloud import ACME, ACME_ADMIN, ANALYTICS, CLOUD_ADMIN, SCHOOL, SHOP, SHOP_ADMIN, DashboardCloud
from tests.e2e.layout import clipped
from tests.e2e.test_commitments import OF_SHOP, commit

WIDTHS = [390, 1280, 1440, 1920]
SCREENS = [(390, "dark"), *(pytest.param(width, "light", marks=pytest.mark.long) for width in WIDTHS)]
"""Colours are looked at on the smallest one only."""
LONG = "https://backend.example.com/" + "v3/quota-sets/" * 6 + " said that it has another quota than before"


@pytest.fixture(scope="module")
def commitment(cloud: DashboardCloud) -> int:
    """One of cores, which can become ram."""
    cores = {"service_type": "compute", "resource_name": "cores", "availability_zone": "west-1"}
    return commit(cloud, amount=1, **cores)["id"]


def _type(amount: str, answer: str) -> Callable[[Locator], None]:
    def work(dialog: Locator) -> None:
        dialog.get_by_role("textbox").first.fill(amount)
        expect(dialog.get_by_text(answer).first).to_be_visible()

    return work


def _wait(text: str) -> Callable[[Locator], None]:
    def work(dialog: Locator) -> None:
        expect(dialog.get_by_text(text).first).to_be_visible()

    return work


QUOTA = f"/ui/domains/{ACME}/projects?resource=compute/ram&do=quota&id={ANALYTICS}"
DIALOGS: list[tuple[str, str, Callable[[Locator], None]]] = [
    (ACME_ADMIN, QUOTA, _type("100000 GiB", "domain quota exceeded")),
    (ACME_ADMIN, QUOTA, _type("201 GiB", "The same as a command")),
    (CLOUD_ADMIN, f"/ui/domains?resource=storage/capacity&do=quota&id={ACME}", _wait("given to projects")),
    (SHOP_ADMIN, f"/ui{OF_SHOP}?do=buy&of=compute/ram&az=west-2&amount=400000 GiB", _wait("There is no time")),
    (SHOP_ADMIN, f"/ui{OF_SHOP}?do=buy&of=compute/cores&az=west-2&amount=1", _wait("The same as a command")),
    (SHOP_ADMIN, f"/ui{OF_SHOP}?do=take", _wait("Offered to everybody")),
    (SHOP_ADMIN, f"/ui{OF_SHOP}?do=manage&id=%d&act=transfer", _wait("Who may take it")),
    (SHOP_ADMIN, f"/ui{OF_SHOP}?do=manage&id=%d&act=duration", _wait("New duration")),
    (SHOP_ADMIN, f"/ui{OF_SHOP}?do=manage&id=%d&act=convert", _wait("How much of it")),
    (CLOUD_ADMIN, f"/ui{OF_SHOP}?do=manage&id=%d", _wait("Only unconfirmed commitments can be deleted")),
]


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_dialogs_are_shown_as_a_whole(open_as: OpenPage, commitment: int, width: int, scheme: str) -> None:
    """Takes long: ten dialogs, each with a page below it that has to be loaded."""
    size = {"width": width, "height": 844}
    pages: dict[str, Page] = {}
    for token, path, work in DIALOGS:
        if token not in pages:
            pages[token] = open_as(token, viewport=size, color_scheme=scheme)
        page = pages[token]
        page.goto(path.replace("%d", str(commitment)))
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        expect(dialog.get_by_role("button", name="Close")).not_to_be_focused()
        work(dialog)
        commands = dialog.get_by_text("The same as a command")
        if commands.is_visible():
            commands.click()
            expect(dialog.get_by_role("region", name="Command for curl")).to_be_visible()
        assert (path, clipped(dialog)) == (path, [])
        if width == WIDTHS[0]:
            assert (path, violations(page)) == (path, [])


@pytest.mark.long
@pytest.mark.usefixtures("commitment")
@pytest.mark.parametrize("path", ["/ui/commitments", f"/ui/domains/{ACME}/commitments"], ids=["cloud", "domain"])
def test_sums_of_commitments_need_no_scrolling_sideways(open_as: OpenPage, path: str) -> None:
    page = open_as(CLOUD_ADMIN, viewport={"width": 1440, "height": 900})
    page.goto(path)
    table = page.get_by_role("region", name="Commitments by resource and zone")
    expect(table.get_by_role("columnheader", name="Usage covered")).to_be_visible()
    assert table.evaluate("box => box.scrollWidth <= box.clientWidth")


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS[1:])
def test_why_a_quota_was_changed_is_there_to_the_last_word(open_as: OpenPage, width: int) -> None:
    def at_length(route: Route) -> None:
        answer = route.fetch()
        changes = answer.json()
        for change in changes["history"]:
            change["detail"] = LONG
        route.fulfill(response=answer, body=json.dumps(changes))

    page = open_as(CLOUD_ADMIN, viewport={"width": width, "height": 900})
    page.route("**/v1/domains/*/history*", at_length)
    page.goto(f"/ui/domains/{SCHOOL}/history")
    cell = page.get_by_role("cell").filter(has_text="than before").first
    expect(cell).to_be_visible()
    table = page.get_by_role("region", name="Changes of quota")
    assert table.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth + 1")


@pytest.mark.long
def test_a_phone_shows_that_there_are_more_columns_and_keeps_names_in_sight(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN, "/ui/domains?resource=compute/cores", viewport=PHONE)
    hint = page.get_by_text("Scroll sideways for more columns")
    expect(hint).to_be_visible()
    assert violations(page) == []
    page.get_by_role("region", name="Domains").evaluate("box => box.scrollTo(box.scrollWidth, 0)")
    expect(page.get_by_text("More columns to the left")).to_be_visible()
    expect(hint).to_have_count(0)
    expect(page.get_by_role("rowheader", name="acme")).to_be_in_viewport(ratio=0.99)
    page.set_viewport_size({"width": 1600, "height": 900})
    expect(page.get_by_text("More columns")).to_have_count(0)


@pytest.mark.long
def test_no_bar_covers_the_field_that_one_types_into(open_as: OpenPage) -> None:
    page = open_as(ACME_ADMIN, f"/ui/domains/{ACME}/projects/{SHOP}/quota", viewport={"width": 360, "height": 560})
    fields = page.get_by_role("main").get_by_role("textbox")
    fields.first.fill("41")
    expect(page.get_by_text("This would be accepted.")).to_be_visible()
    for number in range(fields.count()):
        fields.nth(number).focus()
        is_on_top = """field => {
          const box = field.getBoundingClientRect();
          return document.elementFromPoint(box.left + 20, box.top + 5) === field
            && document.elementFromPoint(box.left + 20, box.bottom - 5) === field;
        }"""
        assert fields.nth(number).evaluate(is_on_top), number
    page.keyboard.press("Shift+Tab")
    expect(page.locator(":focus")).to_be_in_viewport()


@pytest.mark.long
def test_bars_and_colours_are_explained(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN, "/ui/cloud")
    expect(page.get_by_role("list", name="Colours of the bars")).to_contain_text("domain quota above capacity")
    cores = page.locator(".resource-box").filter(has_text="Virtual cores")
    cores.locator("summary.resource").click()
    expect(cores.locator(".scale")).to_have_text("0600")
    page.goto(f"/ui{OF_SHOP}")
    expect(page.locator(".zone-bars .scale").last).to_contain_text("GiB")
