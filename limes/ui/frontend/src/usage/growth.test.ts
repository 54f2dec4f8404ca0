import { expect, it } from "vitest";
import { axisOf, growthText, linesOf, nameOfTime, outlookOf, timesOf } from "./growth";

const days = (...used: number[]) => used.map((one, index) => ({ date: `2026-01-0${index + 1}`, used: one, committed: 0 }));

it.each([
  [[], ""],
  [[5], "5 on 1 Jan 2026. One day is too little to tell how it grows."],
  [[10, 11, 12], "Usage grew by 2 (+20 %), from 10 on 1 Jan 2026 to 12 on 3 Jan 2026."],
  [[10, 5], "Usage fell by 5 (−50 %), from 10 on 1 Jan 2026 to 5 on 2 Jan 2026."],
  [[0, 5], "Usage grew by 5, from 0 on 1 Jan 2026 to 5 on 2 Jan 2026."],
  [[4, 9, 4], "Usage is what it was: from 4 on 1 Jan 2026 to 4 on 3 Jan 2026."],
])("%j: %s", (used, text) => expect(growthText(days(...used), "")).toBe(text));

it("counts in the resource's unit", () => expect(growthText(days(0, 2048), "MiB")).toMatch(/grew by 2 GiB/));
it("puts a day at its noon", () => expect(timesOf(days(1))).toEqual([1767268800]));

it("has lines for the limits that are known", () => {
  expect(linesOf(days(1, 2), undefined).map((one) => one.title)).toEqual(["Used", "Committed"]);
  const known = days(1, 2).map((one, index) => (index ? { ...one, quota: 5 } : one));
  expect(linesOf(known, undefined).at(-1)).toEqual({ title: "Quota", colour: "--muted", amounts: [null, 5], isStepped: true });
});

it("draws what is expected, half as far ahead as it looks back", () => {
  const points = days(1, 2, 3).map((one) => ({ ...one, quota: 9 }));
  const outlook = outlookOf(points, 2)!;
  expect(outlook).toEqual({ at: timesOf(points)[2]! + 86400, from: 3, to: 5 });
  const lines = Object.fromEntries(linesOf(points, outlook).map(({ title, amounts }) => [title, amounts]));
  expect(lines).toEqual({ Used: [1, 2, 3, null], Committed: [0, 0, 0, null], Quota: [9, 9, 9, 9], Expected: [null, null, 3, 5] });
});

it("expects nothing without a forecast, of a single point, and less than nothing never", () => {
  expect(outlookOf(days(1, 2), undefined)).toBeUndefined();
  expect(outlookOf(days(1), 2)).toBeUndefined();
  expect(outlookOf(days(3, 3, 3), -100)!.to).toBe(0);
});

it("puts an hour at its beginning", () => expect(timesOf([{ date: "2026-01-01T10:00:00Z", used: 1, committed: 0 }])).toEqual([1767261600]));

const hours = (...dates: string[]) => dates.map((date) => ({ date, used: 1, committed: 0 }));

it("puts a month at its middle", () => expect(timesOf(hours("2026-01"))).toEqual([1768478400]));

it.each([
  ["2026-01-01T10:00:00Z", "2026-01-01 10:00"],
  ["2026-01-01", "2026-01-01"],
  ["2026-01", "2026-01"],
])("%s: %s", (date, name) => expect(nameOfTime(date)).toBe(name));

it("shows a day of hours at least, and the whole of the last one", () => {
  const [ten, eleven] = [1767261600, 1767265200];
  expect(axisOf(hours("2026-01-01T10:00:00Z"))).toEqual([eleven - 86400, eleven]);
  expect(axisOf(hours("2025-12-30T10:00:00Z", "2026-01-01T10:00:00Z"))).toEqual([ten - 2 * 86400, eleven]);
  expect(axisOf(days(1, 2))).toBeUndefined();
  expect(axisOf([])).toBeUndefined();
});

it("says of one hour or month that it is too little", () => {
  expect(growthText(hours("2026-01-01T10:00:00Z"), "")).toMatch(/One hour is too little/);
  expect(growthText(hours("2026-01"), "")).toMatch(/One month is too little/);
});
