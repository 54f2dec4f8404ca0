import { expect, it } from "vitest";
import { growthText, noonsOf } from "./growth";

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
it("puts a day at its noon", () => expect(noonsOf(days(1))).toEqual([1767268800]));
