"""Pictures of the dashboard with the sample cloud: `python -m tests.docs.screenshots [FOLDER]`, or `make screenshots`."""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from playwright.sync_api import Browser, Page, expect

from tests.docs.cloud import SampleCloud
from tests.e2e.browser import chromium, watched_page
from tests.setup.needs import CHROMIUM
from tests.support.machine import must_stop

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "images"
WIDTH, HEIGHT = 1280, 800
MOST_BYTES = 150_000
ACME, SHOP = "8f1c26b2a9b94b4b8b9f4d1f2c3d4e01", "1a000000000000000000000000000001"
_COMMITMENTS = (
    {"resource_name": "cores", "availability_zone": "az-one", "amount": 8, "duration": "1 year"},
    {"resource_name": "cores", "availability_zone": "az-two", "amount": 12, "duration": "1 year"},
    {"resource_name": "ram", "availability_zone": "az-one", "amount": 16384, "duration": "1 year"},
    {"resource_name": "cores", "availability_zone": "az-one", "amount": 2, "duration": "1 hour"},
)
"""What the project shop commits to. One of them ends soon."""
_QUOTAS = {"cores": 22, "ram": 48 * 1024}
"""Little more than the project shop uses, so that not everything is well."""
_SHOP = f"/v1/domains/{ACME}/projects/{SHOP}"
_IN_TWO_WEEKS = int(time.time()) // 86400 * 86400 + 14 * 86400
_REQUESTS = (
    ("acme-admin", f"/v1/domains/{ACME}", {"name": "ram", "quota": 600 * 1024}),
    ("shop-admin", _SHOP, {"name": "cores", "quota": 60}),
)
"""Who asks for more quota, and for what: requests 1 and 2."""


def show_first_page(page: Page) -> None:
    """What a cloud admin sees after signing in."""
    page.goto("/ui")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def show_quota(page: Page) -> None:
    """A project's quota while it is typed: what the API would say is there before anything is saved."""
    page.goto(f"/ui/domains/{ACME}/projects?resource=compute/cores")
    page.get_by_role("button", name="Set quota of shop-staging").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Virtual cores").fill("+20")
    expect(dialog.get_by_text("This would be accepted.")).to_be_visible()


def show_commitments(page: Page) -> None:
    """Those of a project, with how much of them is used."""
    page.goto(f"/ui/domains/{ACME}/projects/{SHOP}/commitments")
    expect(page.get_by_text("az-two").first).to_be_visible()


def show_request(page: Page) -> None:
    """One that waits, as it is shown to those who decide."""
    page.goto(f"/ui/domains/{ACME}/requests")
    page.get_by_role("main").get_by_role("link", name="Request 2").click()
    expect(page.get_by_role("form", name="Answer")).to_be_visible()


def show_form_for_more(page: Page) -> None:
    """A request for more quota before it is sent."""
    page.goto(f"{_SHOP_PAGE}/requests/new?ask=compute/cores%3D60")
    page.get_by_label("Reason").fill("Easter sale")
    page.get_by_label("Reason").blur()


def show_explanation(page: Page) -> None:
    """Why the quota of one resource is what it is."""
    page.goto(f"{_SHOP_PAGE}/history?resource=compute/cores")
    expect(page.get_by_role("region", name="Explanation")).to_be_visible()


def opened(path: str, text: str) -> Callable[[Page], None]:
    """A page that is shown as soon as it has this text."""

    def show(page: Page) -> None:
        page.goto(path)
        expect(page.get_by_role("main").get_by_text(text).first).to_be_visible()

    return show


SCHEMES = {"light": "", "dark": "-dark"}
"""What stands in file names behind the picture's."""


@dataclass(frozen=True)
class Picture:
    """One page, as it is shown to whoever has the token."""

    token: str
    show: Callable[[Page], None]
    schemes: Collection[str] = ("light",)
    height: int = HEIGHT
    """In pixels: as much as the page needs, so that nothing is cut off."""


_DOMAIN_PAGE, _SHOP_PAGE = f"/ui/domains/{ACME}", f"/ui/domains/{ACME}/projects/{SHOP}"
PICTURES: Mapping[str, Picture] = {
    "dashboard": Picture("cloud-admin", show_first_page, [*SCHEMES]),
    "quota": Picture("acme-admin", show_quota, [*SCHEMES]),
    "commitments": Picture("shop-admin", show_commitments, [*SCHEMES]),
    "requests": Picture("cloud-admin", opened("/ui/requests", "acme"), height=460),
    "alerts": Picture("cloud-admin", opened("/ui/alerts", "shop"), height=460),
    "domains": Picture("cloud-admin", opened("/ui/domains?resource=compute/cores", "university"), height=460),
    "domain": Picture("acme-admin", opened(_DOMAIN_PAGE, "Virtual cores"), height=830),
    "projects": Picture(
        "acme-admin", opened(f"{_DOMAIN_PAGE}/projects?resource=compute/cores", "shop-staging"), height=460
    ),
    "request": Picture("acme-admin", show_request, height=875),
    "project": Picture("shop-admin", opened(_SHOP_PAGE, "Virtual cores")),
    "request-more": Picture("shop-admin", show_form_for_more, height=860),
    "notifications": Picture("shop-admin", opened("/ui/notifications", "Would 50 do?"), height=545),
    "utilisation": Picture("shop-admin", opened(f"{_SHOP_PAGE}/utilisation", "az-two"), height=670),
    "explanation": Picture("shop-member", show_explanation, height=385),
}


def file_names() -> list[str]:
    """Those of all pictures."""
    return [f"{name}{SCHEMES[scheme]}.png" for name, picture in PICTURES.items() for scheme in picture.schemes]


def take_all(browser: Browser, url: str, folder: Path) -> None:
    """Writes each picture into the folder."""
    for name, picture in PICTURES.items():
        for scheme in picture.schemes:
            options: dict[str, Any] = {"viewport": {"width": WIDTH, "height": picture.height}, "color_scheme": scheme}
            with watched_page(browser, url, **options) as watched:
                _sign_in(watched.page, picture.token)
                picture.show(watched.page)
                watched.page.wait_for_load_state("networkidle")
                watched.page.screenshot(
                    path=folder / f"{name}{SCHEMES[scheme]}.png", animations="disabled", caret="hide"
                )


def _sign_in(page: Page, token: str) -> None:
    page.goto("/ui")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in with this token").click()
    page.locator("#content").wait_for()


def fill(url: str) -> None:
    """Makes what the pictures show beside the sample data."""
    admin = {"X-Auth-Token": "cloud-admin"}
    for commitment in _COMMITMENTS:
        answer = requests.post(
            f"{url}{_SHOP}/commitments/new",
            headers=admin,
            json={"commitment": {"service_type": "compute", **commitment}},
            timeout=60,
        )
        assert answer.status_code == 201, answer.text
    quotas = [{"type": "compute", "resources": [{"name": name, "quota": quota} for name, quota in _QUOTAS.items()]}]
    answer = requests.put(url + _SHOP, headers=admin, json={"project": {"services": quotas}}, timeout=60)
    assert answer.status_code == 202, answer.text
    for token, path, resource in _REQUESTS:
        wanted = {"reason": "Easter sale", "until": _IN_TWO_WEEKS}
        body = {"quota_request": {**wanted, "services": [{"type": "compute", "resources": [resource]}]}}
        answer = requests.post(f"{url}{path}/quota-requests", headers={"X-Auth-Token": token}, json=body, timeout=60)
        assert answer.status_code == 201, answer.text
    comment = {"json": {"comment": "Would 50 do?"}, "headers": {"X-Auth-Token": "acme-admin"}}
    answer = requests.post(f"{url}{_SHOP}/quota-requests/2/comments", timeout=60, **comment)
    assert answer.status_code == 201, answer.text


def main() -> int:
    """Answers an exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.docs.screenshots")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    folder: Path = parser.parse_args().folder
    if (code := must_stop(CHROMIUM)) is not None:
        return code
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        cloud = SampleCloud(Path(scratch))
        try:
            cloud.start()
            url = cloud.with_real_ports("http://127.0.0.1:8080")
            fill(url)
            take_all(browser, url, folder)
        finally:
            cloud.stop()
    for name in file_names():
        print(f"{folder / name}: {(folder / name).stat().st_size // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
