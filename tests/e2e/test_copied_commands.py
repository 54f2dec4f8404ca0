"""What the dialogs offer to copy does the same: it is pasted into a shell, with a token in the environment."""

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.browser import OpenPage, watched_page
from tests.e2e.cloud import (
    ACME,
    ACME_ADMIN,
    ANALYTICS,
    ANALYTICS_ADMIN,
    CLOUD_ADMIN,
    FEW_PROJECTS,
    SCHOOL,
    SHOP,
    SHOP_ADMIN,
    DashboardCloud,
    NewCloud,
)
from tests.e2e.test_commitments import OF_ANALYTICS, OF_SHOP, commit, listed
from tests.setup.needs import CURL
from tests.support.levels import few_of
from tests.support.machine import require

CORES = {"service_type": "compute", "resource_name": "cores", "availability_zone": "west-1", "duration": "1 hour"}
QUOTA = f"domains/{ACME}/projects/{ANALYTICS}"
TOOLS = ["OpenStack client", "curl"]


@pytest.fixture
def paste(cloud: DashboardCloud, programs: Path, tmp_path: Path) -> Callable[..., str]:
    """Runs a command line in a shell, as the holder of a token who has `openstack` and `curl` at hand."""
    require(CURL)

    def run(command: str, token: str, **env: str) -> str:
        login = {"OS_AUTH_TYPE": "admin_token", "OS_ENDPOINT": cloud.url, "OS_TOKEN": token}
        path = os.pathsep.join([str(programs), str(Path(shutil.which("curl") or "curl").parent), "/usr/bin", "/bin"])
        done = subprocess.run(
            ["sh", "-c", command],
            env={**login, **env, "PATH": path, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run


def copied(page: Page, tool: str) -> str:
    """The command that the open dialog gives for a tool."""
    return copied_from(page.get_by_role("dialog"), tool)


def copied_from(part: Locator, tool: str) -> str:
    """The same of a part of a page."""
    part.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    if not part.get_by_role("button", name=f"Copy the command for {tool}").is_visible():
        part.get_by_text("The same as a command").click()
    part.get_by_role("button", name=f"Copy the command for {tool}").click()
    expect(part.get_by_text("Copied.")).to_be_visible()
    command: str = part.page.evaluate("navigator.clipboard.readText()")
    for token in (SHOP_ADMIN, ACME_ADMIN, ANALYTICS_ADMIN, CLOUD_ADMIN):
        assert token not in command
    return command


QUOTAS = [
    (ACME_ADMIN, f"/ui/domains/{ACME}/projects?resource=compute/cores&do=quota&id={ANALYTICS}", f"/v1/{QUOTA}"),
    (CLOUD_ADMIN, f"/ui/domains?resource=compute/cores&do=quota&id={SCHOOL}", f"/v1/domains/{SCHOOL}"),
]


@pytest.mark.parametrize("of", few_of(itertools.product(QUOTAS, TOOLS), 1))
def test_quota(open_as: OpenPage, cloud: DashboardCloud, paste: Callable[..., str], of: tuple[Any, str]) -> None:
    """Of a project, and of a domain."""
    (token, address, path), tool = of
    quota = cloud.resource(path)["quota"] + 1
    page = open_as(token, address)
    page.get_by_role("dialog").get_by_role("textbox").fill(str(quota))
    paste(copied(page, tool), token)
    assert cloud.resource(path)["quota"] == quota


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_labels(open_as: OpenPage, cloud: DashboardCloud, paste: Callable[..., str], tool: str) -> None:
    path = f"/v1/{QUOTA}/labels"
    cloud.request("PUT", path, json={"labels": {"env": "prod"}})
    page = open_as(ANALYTICS_ADMIN, f"/ui/{QUOTA}?do=labels")
    for value, labels in (("it's $HOME", {"env": "it's $HOME"}), (None, {})):
        page.reload()
        dialog = page.get_by_role("dialog")
        if value is None:
            dialog.get_by_role("button", name="Remove label env").click()
        else:
            dialog.get_by_label("Value").fill(value)
        paste(copied(page, tool), ANALYTICS_ADMIN)
        assert cloud.request("GET", path).json() == {"labels": labels}


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_a_purchase_now_and_later(
    open_as: OpenPage, cloud: DashboardCloud, paste: Callable[..., str], tool: str
) -> None:
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}?do=buy&of=compute/ram&az=west-1&amount=1536 MiB")
    dialog = page.get_by_role("dialog")
    for later, status in ((False, "confirmed"), (True, "planned")):
        before = set(listed(cloud))
        if later:
            dialog.get_by_label("later").check()
        dialog.get_by_label("Duration").select_option("2 years")
        paste(copied(page, tool), SHOP_ADMIN)
        (number,) = set(listed(cloud)) - before
        made = listed(cloud)[number]
        assert (made["amount"], made["duration"], made["status"]) == (1536, "2 years", status)
        assert (made["resource_name"], made["availability_zone"]) == ("ram", "west-1")


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_changes_of_a_commitment(
    open_as: OpenPage, cloud: DashboardCloud, paste: Callable[..., str], tool: str
) -> None:
    first, second = (commit(cloud, amount=1, **CORES)["id"] for _ in range(2))
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}?do=merge&ids={first},{second}")

    def made(command: str) -> dict:
        before = set(listed(cloud))
        paste(command, SHOP_ADMIN)
        return listed(cloud)[max(set(listed(cloud)) - before)]

    merged = made(copied(page, tool))
    assert merged["amount"] == 2
    renewed = commit(cloud, amount=1, **CORES)["id"]
    page.goto(f"/ui{OF_SHOP}?do=manage&id={renewed}&act=renew")
    assert made(copied(page, tool))["status"] == "planned"
    page.goto(f"/ui{OF_SHOP}?do=manage&id={merged['id']}&act=duration")
    page.get_by_role("dialog").get_by_label("New duration").select_option("1 year")
    paste(copied(page, tool), SHOP_ADMIN)
    assert listed(cloud)[merged["id"]]["duration"] == "1 year"
    page.goto(f"/ui{OF_SHOP}?do=manage&id={merged['id']}&act=convert")
    page.get_by_role("dialog").get_by_label("How much of it").fill("1")
    paste(copied(page, tool), SHOP_ADMIN)
    newest = sorted(listed(cloud).values(), key=lambda one: one["id"])[-2:]
    assert {(one["resource_name"], one["amount"]) for one in newest} == {("cores", 1), ("ram", 4096)}


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_a_transfer_and_its_end(open_as: OpenPage, cloud: DashboardCloud, paste: Callable[..., str], tool: str) -> None:
    number = commit(cloud, amount=3)["id"]
    page = open_as(SHOP_ADMIN, f"/ui{OF_SHOP}?do=manage&id={number}&act=transfer")
    page.get_by_role("dialog").get_by_label("For everybody").check()
    paste(copied(page, tool), SHOP_ADMIN)
    assert listed(cloud)[number]["transfer_status"] == "public"
    page.goto(f"/ui{OF_SHOP}?do=manage&id={number}&act=withdraw")
    paste(copied(page, tool), SHOP_ADMIN)
    assert "transfer_status" not in listed(cloud)[number]

    mark = {"commitment": {"amount": 3, "transfer_status": "unlisted"}}
    answer = cloud.request("POST", f"/v1{OF_SHOP}/{number}/start-transfer", json=mark)
    token = answer.json()["commitment"]["transfer_token"]
    other = open_as(ANALYTICS_ADMIN, f"/ui{OF_ANALYTICS}?do=take")
    other.get_by_role("dialog").get_by_label("Transfer token").fill(token)
    command = copied(other, tool)
    assert token not in command
    paste(command, ANALYTICS_ADMIN, OS_LIMES_TRANSFER_TOKEN=token)
    assert number in listed(cloud, OF_ANALYTICS)


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_an_offer_to_everybody(open_as: OpenPage, cloud: DashboardCloud, paste: Callable[..., str], tool: str) -> None:
    number = commit(cloud, amount=17)["id"]
    mark = {"commitment": {"amount": 17, "transfer_status": "public"}}
    assert cloud.request("POST", f"/v1{OF_SHOP}/{number}/start-transfer", json=mark).status_code == 202
    page = open_as(ANALYTICS_ADMIN, f"/ui{OF_ANALYTICS}?do=take")
    offer = page.get_by_role("dialog").get_by_role("listitem").filter(has_text="17 GiB")
    paste(copied_from(offer, tool), ANALYTICS_ADMIN)
    assert number in listed(cloud, OF_ANALYTICS)


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_new_figures(open_as: OpenPage, cloud: DashboardCloud, paste: Callable[..., str], tool: str) -> None:
    page = open_as(ANALYTICS_ADMIN, f"/ui/{QUOTA}?do=refresh")
    expect(page.get_by_role("dialog", name="Refresh figures")).to_contain_text("all backends")
    paste(copied(page, tool), ANALYTICS_ADMIN)
    page.get_by_role("dialog").get_by_role("button", name="Refresh figures").click()
    expect(page.get_by_text("Limes is reading the backends")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_a_deletion(open_as: OpenPage, cloud: DashboardCloud, paste: Callable[..., str], tool: str) -> None:
    number = commit(cloud, amount=1, **CORES, confirm_by=4_000_000_000)["id"]
    page = open_as(CLOUD_ADMIN, f"/ui{OF_SHOP}?do=manage&id={number}&act=delete")
    paste(copied(page, tool), CLOUD_ADMIN)
    assert number not in listed(cloud)


@pytest.fixture
def bursting_cloud(new_cloud: NewCloud) -> Iterator[DashboardCloud]:
    with new_cloud(**FEW_PROJECTS, bursting={"max_multiplier": 0.2}) as made:
        yield made.start()


@pytest.mark.long
def test_bursting_on_and_off(browser: Browser, bursting_cloud: DashboardCloud, paste: Callable[..., str]) -> None:
    cloud = bursting_cloud
    with watched_page(browser, cloud.url) as watched:
        page = watched.sign_in(ANALYTICS_ADMIN, f"/ui/{QUOTA}")
        for tool, button, is_on in zip(TOOLS, ("Allow bursting", "Switch bursting off"), (True, False), strict=True):
            page.get_by_role("main").get_by_role("button", name=button).click()
            expect(page.get_by_role("dialog", name=button)).to_contain_text("20 %")
            paste(copied(page, tool), ANALYTICS_ADMIN, OS_ENDPOINT=cloud.url)
            bursting = cloud.request("GET", f"/v1/{QUOTA}").json()["project"]["bursting"]
            assert bursting["enabled"] is is_on
            page.keyboard.press("Escape")
            expect(page).not_to_have_url(re.compile("do="))  # else the page is loaded anew with the dialog
            page.reload()
        page.get_by_role("main").get_by_role("button", name="Allow bursting").click()
        page.get_by_role("dialog").get_by_role("button", name="Allow bursting").click()
        expect(page.get_by_role("main").get_by_role("button", name="Switch bursting off")).to_be_visible()


@pytest.mark.parametrize("tool", few_of(reversed(TOOLS), 1))
def test_a_request_for_quota(open_as: OpenPage, cloud: DashboardCloud, paste: Callable[..., str], tool: str) -> None:
    page = open_as(SHOP_ADMIN, f"/ui/domains/{ACME}/projects/{SHOP}/requests/new?ask=compute/cores=90")
    page.get_by_label("Reason").fill("it's a launch & more")
    paste(copied_from(page.get_by_role("main"), tool), SHOP_ADMIN)
    requests = f"/v1/domains/{ACME}/projects/{SHOP}/quota-requests"
    (made,) = cloud.request("GET", f"{requests}?status=open").json()["quota_requests"]
    assert (made["reason"], made["resources"][0]["wanted_quota"]) == ("it's a launch & more", 90)

    page.goto(f"/ui/domains/{ACME}/projects/{SHOP}/requests/{made['id']}")
    form = page.get_by_role("form", name="Answer")
    form.get_by_label("Comment").fill("please")
    paste(copied_from(form, tool), SHOP_ADMIN)
    decider = open_as(ACME_ADMIN, page.url)
    form = decider.get_by_role("form", name="Answer")
    form.get_by_label("Answer").select_option(label="Reject")
    form.get_by_label("Reason").fill("not now")
    paste(copied_from(form, tool), ACME_ADMIN)
    found = cloud.request("GET", f"{requests}/{made['id']}").json()["quota_request"]
    assert [event["text"] for event in found["conversation"]] == ["", "please", "not now"]
    assert found["status"] == "rejected"
