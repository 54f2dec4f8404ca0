import { expect, test } from "vitest";
import { ItemLines } from "./itemLines";

const LINES = '{"projects":[\n{"id":"a"},{"id":"b"},\n{"id":"c"}\n],"projects_links":[]}\n';

test("items are there when their line is", () => {
  const lines = new ItemLines<{ id: string }>("projects");
  expect(lines.add(LINES.slice(0, 20))).toEqual([]);
  expect(lines.add(LINES.slice(20, 40))).toEqual([{ id: "a" }, { id: "b" }]);
  expect(() => lines.end()).toThrow();
  expect(lines.add(LINES.slice(40))).toEqual([{ id: "c" }]);
  lines.end();
});

test("a list may be one line, or empty", () => {
  for (const [text, items] of [['{"domains":[{"id":"a"}]}\n', [{ id: "a" }]], ['{"domains":[]}\n', []], ['{"domains":[\n\n]}\n', []]] as const) {
    const lines = new ItemLines("domains");
    expect(lines.add(text)).toEqual(items);
    lines.end();
  }
});

test("what breaks off in a line is not whole", () => {
  const lines = new ItemLines("projects");
  lines.add(LINES.slice(0, -2));
  expect(() => lines.end()).toThrow();
});
