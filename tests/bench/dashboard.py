"""`make bench-dashboard`: how long the dashboard takes to show 5,000 projects, in a real browser.

For each page: milliseconds until the first rows are there and until all of them are, what the API was asked for
meanwhile, and how much was sent. The pages are opened by their address, so loading scripts and finding the session
again is part of it. The data set is that of `make bench-limes`. Nothing here fails for being slow.

`BENCH_KBITS=400` measures over a line of so many kbit/s, on which each answer takes 0.4 s longer, with a browser that has
nothing cached.
"""

import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.bench.limes import data
from tests.bench.limes.server import TOKEN, config, prepare, running_api
from tests.e2e.browser import chromium
from tests.setup.needs import CHROMIUM, POSTGRESQL
from tests.support.machine import must_stop
from tests.support.postgres import postgres_server

DOMAIN_TOKEN = "bench-domain-admin"
ROUNDS = 5
_FIRST, _COMPLETE = 1000, 2000
"""What we want to reach, in ms. It is only printed."""

_KBITS = int(os.environ.get("BENCH_KBITS", "0"))
_LATENCY = 400
"""Milliseconds of each round trip on a slow line."""
_DOMAIN = f"/ui/domains/{data.domain_uuid(1)}"
_ROWS = "tbody tr:not(.gap)"
_RESOURCES = ".resource"


@dataclass(frozen=True)
class View:
    """A page as somebody sees it. `first` is a selector of what appears first."""

    name: str
    token: str
    path: str
    first: str
    has_count: bool = True
    """Whether the page says how many rows there are once all of them are there."""


VIEWS = [
    View("cloud admin: overview", TOKEN, "/ui/cloud", _RESOURCES, has_count=False),
    View("cloud admin: domains", TOKEN, "/ui/domains", _ROWS),
    View("cloud admin: 5,000 projects", TOKEN, "/ui/projects", _ROWS),
    View("cloud admin: 1,000 projects", TOKEN, f"{_DOMAIN}/projects", _ROWS),
    View("cloud admin: commitments", TOKEN, "/ui/commitments", _ROWS, has_count=False),
    View("domain admin: overview", DOMAIN_TOKEN, _DOMAIN, _RESOURCES, has_count=False),
    View("domain admin: 1,000 projects", DOMAIN_TOKEN, f"{_DOMAIN}/projects", _ROWS),
]

_WATCH = """
({ first, hasCount }) => {
  const times = {};
  let done;
  window.benchTimes = new Promise((resolve) => (done = resolve));
  const look = () => {
    times.first ??= document.querySelector(first) ? performance.now() : undefined;
    const texts = [...document.querySelectorAll("[role=status]")].map((one) => one.textContent);
    const isComplete = hasCount ? texts.some((one) => / in all$/.test(one)) : times.first !== undefined;
    times.complete ??= isComplete && !texts.some((one) => /Loading/.test(one)) ? performance.now() : undefined;
    if (times.complete) done(times);
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}
"""


@dataclass(frozen=True)
class Opening:
    """One opening of a page: times in ms since the address was entered, and what was asked of the API."""

    first: float
    complete: float
    requests: list[tuple[str, float, float, int]]
    """What, when it began, how long it took, and the bytes that were sent."""


def open_page(browser: Browser, url: str, view: View) -> Opening:
    """Opens a page in a fresh profile that has signed in already."""
    context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto("/ui/nowhere")
    page.get_by_label("Token").fill(view.token)
    page.get_by_role("button", name="Sign in with this token").click()
    page.locator("#content").wait_for()
    arguments = f'{{ first: "{view.first}", hasCount: {"true" if view.has_count else "false"} }}'
    page.add_init_script(f"({_WATCH})({arguments})")
    if _KBITS:
        _slow_down(page)
    page.goto(view.path)
    times = page.evaluate("window.benchTimes")  # waits for the promise
    opening = Opening(times["first"], times["complete"], _requests(page))
    context.close()
    return opening


def _slow_down(page: Page) -> None:
    """Leaves the page a slow line, and none of the files that were loaded before."""
    session = page.context.new_cdp_session(page)
    bytes_a_second = _KBITS * 1000 / 8
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    line = {
        "offline": False,
        "latency": _LATENCY,
        "downloadThroughput": bytes_a_second,
        "uploadThroughput": bytes_a_second,
    }
    session.send("Network.emulateNetworkConditions", line)


def _requests(page: Page) -> list[tuple[str, float, float, int]]:
    entries: list[dict[str, Any]] = page.evaluate(
        "['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type)).map(({ name, startTime, duration, encodedBodySize }) =>"
        " ({ name, startTime, duration, encodedBodySize }))"
    )
    return [
        (entry["name"].split("/", 3)[3], entry["startTime"], entry["duration"], entry["encodedBodySize"])
        for entry in entries
        if _KBITS or "/v1/" in entry["name"] or entry["name"].endswith("/session")
    ]


def bench_config(database_url: str) -> dict[str, Any]:
    """That of `bench-limes`, and a domain admin."""
    settings = config(database_url)
    sample = settings["identity"]["sample"]
    sample["domains"].append({"id": data.domain_uuid(1), "name": "domain-1"})
    assignments = [{"domain": "domain-1", "roles": ["resource_admin"]}]
    sample["users"].append({"name": "dora", "domain": "domain-1", "assignments": assignments})
    sample["tokens"].append({"token": DOMAIN_TOKEN, "user": "dora", "domain": "domain-1"})
    return settings


def show(browser: Browser, url: str, view: View) -> None:
    """Measures and prints one page."""
    openings = [open_page(browser, url, view) for _ in range(ROUNDS)]
    first = statistics.median(one.first for one in openings)
    complete = statistics.median(one.complete for one in openings)
    last = openings[-1].requests
    size = sum(bytes_ for *_, bytes_ in last) / 1024
    late = "" if first <= _FIRST and complete <= _COMPLETE else "  late"
    print(f"{view.name:32} {first:8.0f} {complete:9.0f} {len(last):9} {size:9.0f}{late}", flush=True)
    if os.environ.get("BENCH_REQUESTS"):
        for name, start, duration, bytes_ in last:
            print(f"    {start:6.0f} +{duration:6.0f} ms {bytes_ / 1024:8.1f} KiB  {name[:110]}", flush=True)


def main() -> int:
    """Prints the table. Words as arguments measure only the pages that have them in their names."""
    for need in (POSTGRESQL, CHROMIUM):
        if (code := must_stop(need)) is not None:
            return code
    views = [view for view in VIEWS if all(word.lower() in view.name for word in sys.argv[1:])]
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder, chromium() as browser:
        url = server.url(server.create_database())
        prepare(url)
        line = f"over {_KBITS} kbit/s with an empty cache, " if _KBITS else ""
        print(f"milliseconds, {line}medians of {ROUNDS}; aims: first rows in {_FIRST}, all in {_COMPLETE}")
        print(f"{'page':32} {'first':>8} {'complete':>9} {'requests':>9} {'KiB':>9}")
        with running_api(bench_config(url), Path(folder)) as api:
            for view in views:
                show(browser, f"http://127.0.0.1:{api.port}", view)
    return 0


if __name__ == "__main__":
    sys.exit(main())
