import { expect, it } from "vitest";
import { leadsAway } from "./drafts";

const HERE = "https://limes.example.com/ui/domains/d1/quota?sort=name";
const CLICK = { button: 0, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
const link = (path: string, others: object = {}) => ({ href: new URL(path, HERE).href, target: "", download: "", dataset: {}, ...others });

it.each(["/ui/domains/d1", "/ui/cloud", "https://elsewhere.example.com/ui/domains/d1/quota"])("leaves the page for %s", (path) => {
  expect(leadsAway(link(path), CLICK, HERE)).toBe(true);
});

it.each(["?do=buy", "#content", "/ui/domains/d1/quota"])("stays on the page with %s", (path) => {
  expect(leadsAway(link(path), CLICK, HERE)).toBe(false);
});

it("leaves nothing for what opens elsewhere, is saved, or takes along what was typed", () => {
  expect(leadsAway(link("/ui/cloud"), { ...CLICK, ctrlKey: true }, HERE)).toBe(false);
  expect(leadsAway(link("/ui/cloud", { target: "_blank" }), CLICK, HERE)).toBe(false);
  expect(leadsAway(link("/ui/cloud", { download: "file.csv" }), CLICK, HERE)).toBe(false);
  expect(leadsAway(link("/ui/cloud", { dataset: { takes: "" } }), CLICK, HERE)).toBe(false);
});
