"""Grafana's own components from npm in a page: no package registry has its server.

`render/main.tsx` puts them together as a dashboard. It is installed and bundled once, into the folder of the tests' cache.
"""

import fcntl
import shutil
from functools import cache
from hashlib import sha256
from pathlib import Path
from subprocess import TimeoutExpired

from playwright.sync_api import Page, Route

from tests.setup.needs import NPM
from tests.support.frontend import QUICKLY, npm, reason_of, run
from tests.support.machine import MACHINE, give_up, require

SOURCES = Path(__file__).parent / "render"
ORIGIN = "http://grafana.test"
_BUNDLE = (
    *("--bundle", "--minify", "--jsx=automatic", '--define:process.env.NODE_ENV="production"', "--log-level=error"),
    "--external:monaco-editor",  # an editor that no panel needs
)
_HTML = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="main.css">
<body><div id="dashboard"></div><script src="main.js"></script>"""
_ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="8"/></svg>'
_REMEMBER_TEXTS = """
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  (this.canvas.texts ??= []).push(text);
  return fillText.call(this, text, ...place);
};
"""
"""Axes are painted, so the page keeps their texts."""


def require_grafana() -> Path:
    """The folder with the bundle. Skips, or fails in CI, where it cannot be made."""
    require(NPM)
    folder = MACHINE.real_venv.parent / "grafana"
    if reason := _make_bundle(folder):
        give_up(f"npm cannot install Grafana's components ({reason}); not tested: what its dashboards show")
    return folder


@cache
def _make_bundle(folder: Path) -> str:
    """Answers why it failed; nothing if it did not. Tried once by each worker."""
    sources = sorted(SOURCES.iterdir())
    state = sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        stamp, installed = folder / ".made", folder / ".installed"
        if stamp.is_file() and stamp.read_text() == state:
            return ""
        stamp.unlink(missing_ok=True)
        for source in sources:
            shutil.copy(source, folder)
        lock = (folder / "package-lock.json").read_text()
        if not installed.is_file() or installed.read_text() != lock:
            try:
                npm("ci", "--ignore-scripts", *QUICKLY, cwd=folder)
            except (AssertionError, TimeoutExpired) as error:
                return reason_of(str(error))
            installed.write_text(lock)
        run(folder / "node_modules/.bin/esbuild", "main.tsx", "--outfile=main.js", *_BUNDLE, cwd=folder)
        stamp.write_text(state)
    return ""


def open_grafana(page: Page, bundle: Path) -> None:
    """Opens the page, which shows nothing yet. Nothing of it comes from a network."""

    def answer(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        if name in ("main.js", "main.css"):
            route.fulfill(path=bundle / name)
        elif name.endswith(".svg"):
            route.fulfill(body=_ICON, content_type="image/svg+xml")
        elif name:
            route.fulfill(status=404)  # fonts: this machine has its own
        else:
            route.fulfill(body=_HTML, content_type="text/html")

    page.add_init_script(_REMEMBER_TEXTS)
    page.route(f"{ORIGIN}/**", answer)
    page.goto(f"{ORIGIN}/")
