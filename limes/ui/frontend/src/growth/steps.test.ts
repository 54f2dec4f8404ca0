import { expect, it } from "vitest";
import type { Explanation } from "../api/schema";
import { adviceText, boundTexts, stepTexts } from "./steps";

type Growth = NonNullable<Explanation["growth"]>;

const growth = (more: Partial<Growth>): Growth => ({ computed_quota: 12, message: "", demand: {}, steps: [], raised_by: [], ...more });

it("says what each step has given, and why not more", () => {
  const steps: Growth["steps"] = [
    { step: "needed", quota: 2048, per_az: { "az-one": 2048 } },
    { step: "growth", quota: 512, per_az: { "az-one": 512 }, lacking: { "az-one": 512, "az-two": 512 } },
    { step: "base", quota: 0, per_az: {}, capped: 1024 },
  ];
  expect(stepTexts(growth({ steps }), "MiB")).toEqual([
    ["For usage and commitments", "2 GiB"],
    ["For growth", "512 MiB, no capacity for 1 GiB more"],
    ["For the base quota, in no particular zone", "0 MiB, 1 GiB less because of a bound"],
  ]);
});

it("says what bounds it, and whose bound that is", () => {
  expect(boundTexts(growth({ maximum: { quota: 5, source: "max-quota" } }), "")).toEqual(["At most 5: limit of growth."]);
  expect(boundTexts(growth({ minimum: { quota: 2, source: "constraint" } }), "")).toEqual(["At least 2: the operator’s constraint."]);
  const pinned = { quota: 7, source: "override" } as const;
  expect(boundTexts(growth({ minimum: pinned, maximum: pinned }), "")).toEqual(["It is 7: set by the operator."]);
  expect(boundTexts(growth({ forbid_autogrowth: true }), "")).toEqual(["It does not grow: it is only what usage and commitments need."]);
});

it("gives advice in the words of the page", () => {
  expect(adviceText("raise max_quota: without it, the quota becomes 2048 MiB")).toBe("Raise the limit of growth: without it, the quota becomes 2 GiB.");
});
