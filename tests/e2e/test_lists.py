"""Long lists: the rows are asked for at once, and shown while they arrive."""

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.e2e.axe import violations
from tests.e2e.browser import OpenPage
from tests.e2e.cloud import ACME, CAMPUS, CLOUD_ADMIN, SHOP, SHOP_ADMIN


def asked(page: Page) -> list[str]:
    """From now on, the addresses that the page asks the API for, and who is signed in."""
    found: list[str] = []

    def note(request: Request) -> None:
        if "/v1/" in request.url or request.url.endswith("/session"):
            found.append(request.url.split("/v1/")[-1])

    page.on("request", note)
    return found


def test_a_list_of_projects_waits_for_no_report(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN)
    page.goto("about:blank")  # so that the page before asks for nothing any more
    paths = asked(page)
    page.goto("/ui/projects?resource=compute/cores")
    expect(page.get_by_text("1,204 in all")).to_be_visible()
    assert [path for path in paths if path.startswith("clusters")] == []
    (of_projects,) = [path for path in paths if path.startswith("projects")]
    assert "limit=" not in of_projects
    assert "fields=committed" in of_projects
    assert len([path for path in paths if path.endswith("/session")]) == 1
    expect(page.get_by_label("Resource").locator("option", has_text="Virtual cores")).to_have_count(1)


def test_a_list_that_breaks_off_is_not_taken_for_whole(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN)

    def cut(route: Route) -> None:
        route.fulfill(response=(response := route.fetch()), body=response.body()[:-100])

    page.route("**/v1/projects?*", cut)
    page.goto("/ui/projects?resource=compute/cores")
    expect(page.get_by_text("The list broke off before its end.")).to_be_visible()
    page.unroute("**/v1/projects?*")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("1,204 in all")).to_be_visible()


@pytest.mark.long
def test_a_list_of_a_domain_asks_for_its_name_once(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN)
    page.goto("about:blank")
    paths = asked(page)
    page.goto(f"/ui/domains/{CAMPUS}/projects")
    expect(page.get_by_role("heading", level=1)).to_have_text("Projects of campus")
    expect(page.get_by_text("1,200 in all")).to_be_visible()
    assert [path for path in paths if path.startswith(f"domains/{CAMPUS}?")] == [f"domains/{CAMPUS}?service="]


@pytest.mark.long
def test_a_name_is_the_same_on_each_level(open_as: OpenPage) -> None:
    page = open_as(CLOUD_ADMIN)
    for path in ("/ui/cloud", f"/ui/domains/{CAMPUS}"):
        page.goto(path)
        expect(page.get_by_text("Virtual cores").first).to_be_visible()


@pytest.mark.long
def test_resources_of_the_same_name_are_told_apart(open_as: OpenPage) -> None:
    page = open_as(SHOP_ADMIN)

    def answer(route: Route) -> None:
        response = route.fetch()
        document = response.json()
        for service in document["services"]:
            for resource in service["resources"]:
                if resource["name"] in ("ram", "capacity"):
                    resource["display_name"] = "Size"
        route.fulfill(response=response, json=document)

    page.route("**/v1/resources", answer)
    page.goto(f"/ui/domains/{ACME}/projects/{SHOP}/requests/new")
    for service, name in (("compute", "Size (compute)"), ("storage", "Size (storage)")):
        group = page.get_by_role("group").filter(has=page.get_by_role("heading", name=service, exact=True))
        expect(group.last.get_by_role("textbox", name=name, exact=True)).to_be_visible()
    assert violations(page) == []
    page.goto(f"/ui/domains/{ACME}/projects/{SHOP}/history?resource=storage/capacity")
    expect(page.get_by_label("Resource").locator("option:checked")).to_have_text("Size (storage)")
