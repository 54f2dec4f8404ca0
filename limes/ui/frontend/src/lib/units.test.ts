import { describe, expect, it } from "vitest";
import { format, formatExact, parse, percent } from "./units";

describe("format", () => {
  it.each([
    [12000, "", "12,000"],
    [0, "MiB", "0 MiB"],
    [40960, "MiB", "40 GiB"],
    [1536, "GiB", "1.5 TiB"],
    [1234, "MiB", "1.21 GiB"],
    [-1, "GiB", "unlimited"],
  ])("%d %s is %s", (amount, unit, text) => expect(format(amount, unit)).toBe(text));
});

describe("formatExact reads back as the same", () => {
  it.each([0, 1, 1000, 1024, 40960, 1234567, 1536 * 1024])("%d MiB", (amount) => {
    expect(parse(formatExact(amount, "MiB"), "MiB")).toEqual({ amount });
  });
});

describe("parse", () => {
  it.each([
    ["12", "", undefined, 12],
    ["1,200", "", undefined, 1200],
    ["200 GiB", "MiB", undefined, 204800],
    ["200g", "MiB", undefined, 204800],
    ["1.5 TiB", "GiB", undefined, 1536],
    ["512", "MiB", undefined, 512],
    ["+10%", "", 40, 44],
    ["+10%", "", 45, 50],
    ["-5", "", 40, 35],
    ["+2 GiB", "MiB", 1024, 3072],
  ])("%s in %s from %s is %d", (text, unit, present, amount) => expect(parse(text, unit, present)).toEqual({ amount }));

  it.each([
    ["", "", /whole number/],
    ["ten", "", /whole number/],
    ["1.5", "", /whole number/],
    ["10 GiB", "", /counted/],
    ["10 parsecs", "GiB", /Unknown unit/],
    ["1 MiB", "GiB", /Not a whole number of GiB/],
    ["99999999999999999", "", /Too large/],
    ["-50", "", /whole number/],
  ])("%s in %s is refused", (text, unit, problem) => expect(parse(text, unit).problem).toMatch(problem));

  it("goes not below zero", () => expect(parse("-50", "", 40).problem).toMatch(/Must not be below zero/));
});

describe("percent", () => {
  it.each([
    [1, 3, "33 %"],
    [0, 0, "0 %"],
    [5, 0, "over"],
  ])("%d of %d is %s", (part, whole, text) => expect(percent(part, whole)).toBe(text));
});
