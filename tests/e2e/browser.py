"""Debian's Chromium without a screen, driven by playwright, and what every page is watched for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route, expect, sync_playwright

from limes.ui.browser import PAGE_HEADER
from tests.setup.needs import CHROMIUM
from tests.support.machine import require

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 90_000
OpenPage = Callable[..., Page]
"""What the fixture `open_as` gives."""
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of this machine: `$CHROMIUM`, or the one on the PATH. Skips, or fails in CI, without one."""
    program = require(CHROMIUM)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page of a fresh profile, and what went wrong on it."""

    context: BrowserContext
    page: Page
    problems: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Nothing was thrown, and the security policy was never in the way."""
        assert self.problems == []

    def _on_console(self, message: ConsoleMessage) -> None:
        # what the API refuses is shown on the page; Chromium writes it to the console besides
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.problems.append(message.text)

    def sign_in(self, token: str, path: str = "/ui", /) -> Page:
        """Opens a page of the dashboard in the session of a sample token, and waits until it is there."""
        headers, body = {PAGE_HEADER: "1"}, {"method": "token", "token": token}
        answer = self.context.request.post("/ui/session", headers=headers, data=body)
        assert answer.ok, answer.text()
        self.page.goto(path)
        self.page.locator("#content h1").wait_for()  # not only what is around each page
        return self.page


@contextmanager
def watched_page(browser: Browser, url: str, **options: object) -> Iterator[Watched]:
    """A page for a test, with `url` as its base, closed and checked afterwards."""
    settings = {"viewport": DESKTOP, "reduced_motion": "reduce", "base_url": url, **options}
    context = browser.new_context(**settings)  # type: ignore[arg-type]  # options by name
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    watched = Watched(context, page)
    page.on("console", watched._on_console)
    page.on("pageerror", lambda error: watched.problems.append(str(error)))
    try:
        yield watched
        watched.check()
    finally:
        context.close()


@contextmanager
def ended_session(page: Page) -> Iterator[None]:
    """Holds back what the API is asked meanwhile. Then it is answered that the token is not valid any more, and so is all that
    comes, until `page.unroute_all`. So no earlier request ends the session before what is done here."""
    held: list[Route] = []
    page.route("**/v1/**", lambda route: held.append(route))
    yield
    page.route("**/v1/**", _refuse)
    for route in held:
        _refuse(route)


def _refuse(route: Route) -> None:
    route.fulfill(status=401, body="the token is not valid")
