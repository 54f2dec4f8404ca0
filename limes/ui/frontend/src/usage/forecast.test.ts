import { expect, it } from "vitest";
import { forecastText, limitText } from "./forecast";

const DAY = 86400;
const NOW = 1767225600;
const quota = { limit: "quota" as const, amount: 100 };
const days = (number: number): number => NOW + number * DAY;

it.each([
  [{ at: days(35), earliest: days(21), latest: days(60) }, "All quota (100) is expected to be used in about 5 weeks (3 to 9 weeks)."],
  [{ at: days(35), earliest: days(35), latest: days(36) }, "All quota (100) is expected to be used in about 5 weeks."],
  [{ at: days(35), earliest: days(10), latest: days(100) }, "All quota (100) is expected to be used in about 5 weeks (10 days to 3 months)."],
  [{ at: days(800), earliest: days(61) }, "All quota (100) is expected to be used in about 2 years (2 months at the earliest)."],
  [{ earliest: days(1) }, "All quota (100) is not expected to be used up, but if usage grows, then in 1 day at the earliest."],
  [{}, "All quota (100) is not expected to be used up: no end in sight."],
  [{ at: NOW, earliest: NOW, latest: NOW }, "All quota (100) is used."],
])("%j: %s", (times, text) => expect(limitText({ ...quota, ...times }, "", NOW)).toBe(text));

it("says how many days are missing", () => {
  const forecast = { service: "compute", resource: "cores", usage: 5, days: 4, missing_days: 3, limits: [quota] };
  expect(forecastText(forecast, NOW)).toBe("A forecast needs a week of data: 3 more days.");
});
