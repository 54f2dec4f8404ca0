import { expect, it } from "vitest";
import { entriesOf, isSame, readEntries, readFilter } from "./entries";

const entry = (key: string, value = "") => ({ key, value });

it("reads entries, without the empty ones", () => {
  const { labels, problems } = readEntries([entry("env", "prod"), entry(""), entry(" owner ", " web team "), entry("empty")]);
  expect(labels).toEqual({ env: "prod", owner: " web team ", empty: "" });
  expect(problems.size).toBe(0);
});

it("says which entries are none", () => {
  const { labels, problems } = readEntries([entry("env", "a"), entry("Env"), entry("", "b"), entry("env", "c"), entry("__proto__"), entry("a".repeat(64))]);
  expect(labels).toEqual({ env: "a" });
  expect([...problems.keys()]).toEqual([1, 2, 3, 4, 5]);
  expect(problems.get(3)).toBe("This key is there already.");
});

it("compares labels in any order", () => {
  const labels = { b: "2", a: "1" };
  expect(isSame(labels, readEntries(entriesOf({ a: "1", b: "2" })).labels)).toBe(true);
  expect(isSame(labels, { a: "1" })).toBe(false);
});

it.each([
  ["", undefined],
  [" env ", "env"],
  ["env:prod", "env:prod"],
  ["env:", "env:"],
  ["url:http://x", "url:http://x"],
])("reads the filter %j as %j", (text, label) => expect(readFilter(text)).toEqual(label === undefined ? {} : { label }));

it.each([":prod", "Env", "a b"])("refuses the filter %j", (text) => expect(readFilter(text).problem).toContain("key:value"));
