"""Pictures of the dashboard with the sample cloud: `python -m tests.docs.screenshots [FOLDER]`, or `make screenshots`."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
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


@dataclass(frozen=True)
class Picture:
    """One page, as it is shown to whoever has the token."""

    token: str
    show: Callable[[Page], None]


PICTURES: Mapping[str, Picture] = {
    "dashboard": Picture("cloud-admin", show_first_page),
    "quota": Picture("acme-admin", show_quota),
    "commitments": Picture("shop-admin", show_commitments),
}
SCHEMES = {"light": "", "dark": "-dark"}
"""What stands in file names behind the picture's."""


def file_names() -> list[str]:
    """Those of all pictures."""
    return [f"{name}{suffix}.png" for name in PICTURES for suffix in SCHEMES.values()]


def take_all(browser: Browser, url: str, folder: Path) -> None:
    """Writes each picture into the folder."""
    for name, picture in PICTURES.items():
        for scheme, suffix in SCHEMES.items():
            options: dict[str, Any] = {"viewport": {"width": WIDTH, "height": HEIGHT}, "color_scheme": scheme}
            with watched_page(browser, url, **options) as watched:
                _sign_in(watched.page, picture.token)
                picture.show(watched.page)
                watched.page.wait_for_load_state("networkidle")
                watched.page.screenshot(path=folder / f"{name}{suffix}.png", animations="disabled", caret="hide")


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
