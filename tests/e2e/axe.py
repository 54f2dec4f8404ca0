"""axe-core's verdict on what a page shows."""

from playwright.sync_api import Page

from tests.support.frontend import FRONTEND

_RUN = """async () => {
  const result = await axe.run(document, {resultTypes: ["violations"]});
  return result.violations.flatMap(
    one => one.nodes.map(node => `${one.id}: ${one.help}: ${node.html.slice(0, 160)} ${node.any.map(a => a.message)}`));
}"""


def violations(page: Page) -> list[str]:
    """One line for each element that somebody cannot use."""
    if not page.evaluate("'axe' in window"):
        # evaluated by the debugger: the page's own policy would let no such script in
        page.evaluate((FRONTEND / "node_modules/axe-core/axe.min.js").read_text())
    found: list[str] = page.evaluate(_RUN)
    return found
