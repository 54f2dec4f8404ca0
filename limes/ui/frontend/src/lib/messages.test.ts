import { expect, it } from "vitest";
import { readable } from "./messages";
import { formatTime } from "./time";

const TIME = formatTime(Date.UTC(2027, 4, 3, 12) / 1000);

it.each([
  ["too early to renew commitment 7: possible from 2027-05-03T12:00:00+00:00", `too early to renew commitment 7: possible from ${TIME}`],
  ["from 2027-05-03T12:00:00Z to 2027-05-03T14:00:00.5+02:00", `from ${TIME} to ${TIME}`],
  ["needs a `confirm_by` timestamp at or after 2027-05-03T12:00:00Z", `needs a start at or after ${TIME}`],
  ["confirm_by must not be set in the past", "start must not be set in the past"],
  ["add up to 4116480 MiB, but its quota is 81920 MiB", "add up to 4020 GiB, but its quota is 80 GiB"],
  ["1025 MiB, 12 GiB and 5000 items stay", "1025 MiB, 12 GiB and 5000 items stay"],
  ["2027-05-03 and confirm_byte stay", "2027-05-03 and confirm_byte stay"],
])("%s", (message, text) => expect(readable(message)).toBe(text));
