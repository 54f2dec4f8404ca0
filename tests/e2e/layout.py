"""What does not fit: elements that are cut off, or that reach out of what they are in."""

from playwright.sync_api import Locator

_CLIPPED = """root => {
  const found = [];
  const say = (what, element) => {
    const text = (element.innerText || element.value || "").slice(0, 40);
    found.push(`${what}: <${element.tagName.toLowerCase()} class="${element.className}"> ${text}`);
  };
  // what scrolls says so itself; the parts of a bar have no text
  const mayReachOut = element => element.closest(".visually-hidden, .table-box, .meter, canvas, option, svg");
  for (const element of root.querySelectorAll("*")) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || mayReachOut(element)) continue;
    const overflow = getComputedStyle(element).overflowX;
    if (overflow !== "visible" && element.tagName !== "INPUT" && element.scrollWidth > element.clientWidth + 1)
      say(`cut off (${element.scrollWidth} > ${element.clientWidth})`, element);
    const outer = element.parentElement.getBoundingClientRect();
    if (box.right > outer.right + 1 || box.left < outer.left - 1)
      say(`reaches out (${Math.round(box.left - outer.left)}, ${Math.round(box.right - outer.right)})`, element);
  }
  const box = root.getBoundingClientRect();
  if (box.left < 0 || box.right > document.documentElement.clientWidth) say("outside of the screen", root);
  return found;
}"""


def clipped(root: Locator) -> list[str]:
    """One line for each element below `root` that is not to be seen as a whole."""
    found: list[str] = root.evaluate(_CLIPPED)
    return found
