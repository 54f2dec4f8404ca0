import { expect, it } from "vitest";
import type { QuotaChange as Change } from "../api/schema";
import { stepsOf } from "./steps";

const change = (at: number, old: number | null, value: number, what: Change["what"] = "quota") => ({ at, old, new: value, what }) as Change;

it("goes from the oldest change to now", () => {
  const { times, amounts } = stepsOf([change(90_000, 20, 40), change(50_000, 10, 20)], 40, 100_000);
  expect(times).toEqual([47_500, 50_000, 90_000, 100_000]);
  expect(amounts).toEqual([10, 20, 40, 40]);
});

it("leaves a gap where there was no quota, and other kinds of changes out", () => {
  const { amounts } = stepsOf([change(90_000, 5, 9, "backend_quota"), change(50_000, null, 20)], 20, 100_000);
  expect(amounts).toEqual([null, 20, 20]);
});

it("takes the last of several changes within a second", () => {
  const { times, amounts } = stepsOf([change(50_000, 20, 30), change(50_000, 10, 20)], 30, 100_000);
  expect(times).toHaveLength(3);
  expect(amounts).toEqual([10, 30, 30]);
});

it("is nothing without changes and without a quota", () => expect(stepsOf([], undefined, 5).times).toEqual([]));
