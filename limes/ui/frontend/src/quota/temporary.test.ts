import { expect, it } from "vitest";
import { formatTime } from "../lib/time";
import { temporaryText } from "./temporary";

const FROM = 1_800_000_000;
const UNTIL = 1_800_086_400;
const times = { from: FROM, until: UNTIL };

it("says what ends, what is planned, and what is over", () => {
  expect(temporaryText({ ...times, state: "active", quota: 60, quota_before: 40 }, "")).toBe(`60 until ${formatTime(UNTIL)}, then 40`);
  expect(temporaryText({ ...times, state: "planned", quota: 2048 }, "MiB")).toBe(`2 GiB from ${formatTime(FROM)} until ${formatTime(UNTIL)}`);
  expect(temporaryText({ ...times, state: "over", quota: 60, quota_before: 40, over_by: 12 }, "")).toBe(
    `over by 12 since ${formatTime(UNTIL)}, then 40`,
  );
});
