import { expect, it } from "vitest";
import { hoursText, previewOf } from "./hours";

it.each([
  [7_776_000, undefined, "2,160 h"],
  [3600 * 1536, "GiB", "1.5 TiB h"],
  [900, undefined, "0.25 h"],
])("%d amount-seconds in %s are %s", (amount, unit, text) => expect(hoursText(amount, unit)).toBe(text));

const YEAR = { from: "2026-10-31", until: "2027-10-31" };

it("asks for a few projects, and of hours for those of the first day", () => {
  expect(previewOf({ ...YEAR, granularity: "total" })).toEqual({ wanted: { ...YEAR, granularity: "total" }, projects: 10 });
  expect(previewOf({ ...YEAR, granularity: "hour" })).toEqual({ wanted: { from: "2026-10-31", until: "2026-11-01", granularity: "hour" }, projects: 1 });
});
