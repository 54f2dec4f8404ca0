import { expect, it } from "vitest";
import type { Commitment } from "../api/schema";
import { roughDays, usualDuration } from "./durations";

const own = (id: number, duration: string, resource_name = "cores") => ({ id, duration, service_type: "compute", resource_name }) as Commitment;
const OFFERED = ["1 hour", "3 months", "1 year", "2 years", "5 years"];

it("compares durations", () => {
  expect(roughDays("2 years")).toBeGreaterThan(roughDays("1 year, 11 months"));
  expect(roughDays("1 year, 1 hour")).toBeGreaterThan(roughDays("1 year"));
  expect(roughDays("nonsense")).toBe(0);
});

it("takes that of the newest commitment to the same resource", () => {
  const before = [own(7, "2 years"), own(9, "3 months"), own(8, "1 hour"), own(10, "5 years", "ram")];
  expect(usualDuration(OFFERED, "compute/cores", before)).toBe("3 months");
});

it("takes none that is not offered any more", () => expect(usualDuration(OFFERED, "compute/cores", [own(1, "7 days")])).toBe("1 year"));

it.each([
  [OFFERED, "1 year"],
  [["1 hour", "6 months", "3 years"], "6 months"],
  [["3 years", "2 years"], "2 years"],
  [[], ""],
])("else takes of %j the longest of at most a year: %s", (durations, duration) => expect(usualDuration(durations, "compute/cores", [])).toBe(duration));
