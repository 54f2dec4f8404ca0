import { expect, it } from "vitest";
import { formatTime, relative, withReadableTimes } from "./time";

it.each([
  [0, "just now"],
  [-59, "just now"],
  [-60, "1 minute ago"],
  [3 * 86400, "in 3 days"],
  [-400 * 86400, "last year"],
])("%d seconds from now is %s", (difference, text) => expect(relative(1e9 + difference, 1e9)).toBe(text));

it("makes times in messages readable, and nothing else", () => {
  const time = formatTime(Date.UTC(2027, 4, 3, 12) / 1000);
  expect(withReadableTimes("too early to renew commitment 7: possible from 2027-05-03T12:00:00+00:00")).toBe(
    `too early to renew commitment 7: possible from ${time}`,
  );
  expect(withReadableTimes("from 2027-05-03T12:00:00Z to 2027-05-03T14:00:00.5+02:00")).toBe(`from ${time} to ${time}`);
  expect(withReadableTimes("2027-05-03 stays")).toBe("2027-05-03 stays");
});
