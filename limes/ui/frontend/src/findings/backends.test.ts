import { expect, it } from "vitest";
import { backendsOf } from "./backends";

it("says of each what is wrong, in a few words", () => {
  const found = backendsOf({
    services: [
      { type: "compute", area: "compute", projects: 5, min_scraped_at: 9 },
      { type: "volume", area: "storage", projects: 5, failing_projects: 1, failing_since: 1e9, unwritten_projects: 2, is_stale: true },
      { type: "dns", area: "network", projects: 5, is_stale: true },
    ],
    capacitors: [{ id: "nova", scraped_at: 7, message: "no route" }, { id: "manual", scraped_at: 8 }],
  });
  expect(found.map((one) => [one.name, one.problem])).toEqual([
    ["compute", undefined],
    ["volume", expect.stringMatching(/^fails in 1 of 5 projects since 9 Sept? 2001.*; does not take the quota of 2 projects$/)],
    ["dns", "not read for a long time"],
    ["nova", "the last attempt failed"],
    ["manual", undefined],
  ]);
  const urgent = found.toSorted((one, other) => other.urgency - one.urgency).map((one) => one.name);
  expect(urgent.slice(0, 3)).toEqual(["nova", "volume", "dns"]);
});
