import { expect, it } from "vitest";
import { isOther, mayReload } from "./lazily";

const PAGE = '<!doctype html><script type="module" crossorigin src="/ui/assets/index-abc.js"></script>';

it("knows its own page from that of another version", () => {
  expect(isOther(PAGE, "/ui/assets/index-abc.js")).toBe(false);
  expect(isOther(PAGE, "/ui/assets/index-old.js")).toBe(true);
});

it("reloads once, and not again a moment later", () => {
  expect(mayReload(0, 1_700_000_000_000)).toBe(true);
  expect(mayReload(1_700_000_000_000, 1_700_000_002_000)).toBe(false);
});
