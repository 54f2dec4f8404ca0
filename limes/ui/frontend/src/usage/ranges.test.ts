import { describe, expect, it } from "vitest";
import { pointsOf, type Range, rangeOf, rangesFor } from "./ranges";

const NOW = 1_800_000_000;
const DAY = 86400;
const ago = (days: number) => NOW - days * DAY;

describe("at first", () => {
  it.each([
    [0.01, 1, "hour"],
    [0.9, 1, "hour"],
    [1.1, 7, "hour"],
    [7, 7, "hour"],
    [8, 30, "day"],
    [31, 30, "day"],
    [2000, 30, "day"],
  ])("after %f days: %i days by %s", (since, days, granularity) => {
    expect(rangeOf("", ago(since), NOW)).toMatchObject({ days, granularity });
  });
  it("does without knowing", () => expect(rangeOf("", undefined, NOW).days).toBe(30));
});

it("keeps to what was chosen, unless there is no such range", () => {
  expect(rangeOf("90", ago(1), NOW).days).toBe(90);
  expect(rangeOf("17", ago(0.5), NOW).days).toBe(1);
  expect(rangeOf("never", ago(0.5), NOW).days).toBe(1);
});

describe("offers what there are data for", () => {
  const offered = (since: number | undefined, chosen = "") => rangesFor(since, rangeOf(chosen, since, NOW), NOW).map((one) => one.value);
  it.each([
    [0.01, ["1"]],
    [2, ["1", "7"]],
    [8, ["1", "7", "30"]],
    [40, ["1", "7", "30", "90"]],
    [364, ["1", "7", "30", "90", "365"]],
    [400, ["1", "7", "30", "90", "365", "3650"]],
    [5000, ["1", "7", "30", "90", "365", "3650"]],
  ])("of %f days", (since, values) => expect(offered(ago(since))).toEqual(values));
  it("and what is shown anyway", () => expect(offered(ago(0.5), "90")).toEqual(["1", "90"]));
  it("does without knowing", () => expect(offered(undefined)).toEqual(["1", "7", "30"]));
});

describe("points", () => {
  const range = (days: number): Range => rangeOf(String(days), undefined, NOW);
  const hour = (time: number) => ({ date: new Date(time * 1000).toISOString().slice(0, 19) + "Z", used: 1, committed: 0 });
  const of = (since: number, ...times: number[]) => ({ service: "s", resource: "r", since, days: [], hours: times.map(hour) });
  it("of a day are its 24 hours", () => expect(pointsOf(of(ago(1.5), ago(1.5), ago(0.5)), range(1), NOW)).toEqual([hour(ago(0.5))]));
  it("of a week are hours", () => expect(pointsOf(of(ago(20), ago(6.9), ago(0.5)), range(7), NOW)).toHaveLength(2));
  it("of a week are hours if there were none before", () => expect(pointsOf(of(ago(3), ago(3), ago(0.5)), range(7), NOW)).toHaveLength(2));
  it("of a week are days where hours are kept for two days", () => expect(pointsOf(of(ago(20), ago(2), ago(0.5)), range(7), NOW)).toBeUndefined());
});
