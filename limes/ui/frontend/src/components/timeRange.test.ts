import { expect, it } from "vitest";
import { timeRange } from "./timeRange";

it("goes from the first moment to the last", () => expect(timeRange([100, 500, 900])).toEqual([100, 900]));

it("shows a day around a single moment, and not the years to come", () => {
  expect(timeRange([1_800_000_000])).toEqual([1_799_956_800, 1_800_043_200]);
});

it("does without any moment", () => expect(timeRange([])).toEqual([0, 86400]));
