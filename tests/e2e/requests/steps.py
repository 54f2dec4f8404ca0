"""Help with tests of requests: how they are made and shown."""

from playwright.sync_api import Locator, Page

from tests.e2e.cloud import ACME, SHOP, SHOP_ADMIN, DashboardCloud

DOMAIN, PROJECT = f"/ui/domains/{ACME}", f"/ui/domains/{ACME}/projects/{SHOP}"
API = f"/v1/domains/{ACME}/projects/{SHOP}"
MARKUP = "<b onclick=alert(1)>launch</b> & <img src=x onerror=alert(1)>"


def asked(cloud: DashboardCloud, cores: int, reason: str = "launch", token: str = SHOP_ADMIN) -> int:
    """A request of shop, made without the dashboard."""
    services = [{"type": "compute", "resources": [{"name": "cores", "quota": cores}]}]
    document = {"quota_request": {"services": services, "reason": reason}}
    answer = cloud.request("POST", f"{API}/quota-requests", token, json=document)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["quota_request"]["id"])


def cores_of(cloud: DashboardCloud, path: str = API) -> int:
    return int(cloud.resource(path)["quota"])


def status(page: Page) -> Locator:
    return page.locator(".request-status")


def nav_entry(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Main").get_by_role("link", name=name, exact=True)


def answer(page: Page, verb: str, text: str, button: str = "") -> None:
    """Chooses what to do with the request that is shown, and does it."""
    form = page.get_by_role("form", name="Answer")
    form.get_by_label("Answer").select_option(label=verb)
    form.get_by_label("Reason" if verb == "Reject" else "Comment").fill(text)
    form.get_by_role("button", name=button or verb, exact=True).click()
