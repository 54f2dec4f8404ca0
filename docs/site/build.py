"""Builds the documentation site, and checks it: `python docs/site/build.py [OUTPUT]`.

Strict: a page that no table of contents names, an entry without a page, and a link or an anchor that leads nowhere are
errors. So is anything that a browser would fetch from another host.
"""

import os
import re
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(ROOT / "plugins"), str(HERE)]
_ELSEWHERE = r"""=["']?(?:https?:)?//"""
_FETCHED = re.compile(rf"<(?:script|img|iframe)\b[^>]*\bsrc{_ELSEWHERE}|<link\b[^>]*\bhref{_ELSEWHERE}")

_FOR_EVERYBODY = {
    'role="heading"': 'role="heading" aria-level="2"',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<div class="highlight"><pre>': '<div class="highlight"><pre tabindex="0">',
}
"""What the theme leaves out, so that screen readers and keyboards lose nothing."""


def build(output: Path, source: Path = DOCS) -> int:
    """Builds `source` into `output`. Answers an exit code; what is wrong stands on standard error."""
    if source == DOCS:
        import reference

        os.environ["COLUMNS"] = "100"  # argparse fits usages to the terminal
        reference.write(DOCS / "reference")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--nitpicky"]
    work = ["--doctree-dir", str(output.parent / f"{output.name}-doctrees"), "--conf-dir", str(HERE)]
    if code := build_main([*options, *work, "--builder", "html", str(source), str(output)]):
        return code
    for page in output.rglob("*.html"):
        page.write_text(_completed(page.read_text(encoding="utf-8")), encoding="utf-8")
    foreign = fetching_pages(output)
    for page in foreign:
        print(f"{page} fetches something from another host", file=sys.stderr)
    return 1 if foreign else 0


def _completed(text: str) -> str:
    for lacking, complete in _FOR_EVERYBODY.items():
        text = text.replace(lacking, complete)
    return text


def fetching_pages(output: Path) -> list[Path]:
    """Those that would have a browser ask another host for a script, an image, a style or a font."""
    return [page for page in output.rglob("*.html") if _FETCHED.search(page.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "docs"
    status = build(target)
    if status == 0:
        print(f"{target}/index.html")
    sys.exit(status)
