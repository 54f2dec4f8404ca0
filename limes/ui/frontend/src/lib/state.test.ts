import { expect, it } from "vitest";
import { shareOf, stateOf, stateText, worst } from "./state";

it.each([
  [0, 0, "ok"],
  [80, 100, "ok"],
  [81, 100, "high"],
  [95, 100, "high"],
  [96, 100, "critical"],
  [100, 100, "critical"],
  [101, 100, "over"],
  [1, 0, "over"],
  [7, undefined, "ok"],
] as const)("%d of %s is %s", (usage, limit, state) => expect(stateOf(usage, limit)).toBe(state));

it("is fullest without any quota", () => expect(shareOf(1, 0)).toBeGreaterThan(shareOf(1e6, 1)));
it("says what is exceeded", () => expect(stateText("over", "capacity")).toBe("above capacity"));
it("knows the most urgent", () => {
  expect(worst(["ok", "critical", "high"])).toBe("critical");
  expect(worst([])).toBe("ok");
});
