import { describe, expect, it } from "vitest";
import type { ProjectRights } from "../api/rights";
import type { Commitment } from "../api/schema";
import { converted, mergeProblem, possibilities } from "./rules";

const NOW = 1_800_000_000;
const NOBODY = {} as ProjectRights;
const EDITOR = { move_commitments: true, change_commitments: true, take_back_commitments: true } as ProjectRights;
const ADMIN = { ...EDITOR, delete_commitments: true };

const one = (changes: Partial<Commitment> = {}): Commitment =>
  ({
    id: 1,
    service_type: "compute",
    resource_name: "cores",
    availability_zone: "west-1",
    amount: 10,
    status: "confirmed",
    created_at: NOW - 10 * 86400,
    renewable_from: NOW - 86400,
    ...changes,
  }) as Commitment;

const allowed = (changes: Partial<Commitment>, rights = ADMIN): string[] =>
  possibilities(one(changes), rights, NOW)
    .filter((found) => !found.reason)
    .map((found) => found.action);

describe("possibilities", () => {
  it("of a confirmed one", () => {
    expect(allowed({})).toEqual(["transfer", "renew", "auto-renew", "duration", "convert"]);
    expect(allowed({ auto_renew: true })).toEqual(["transfer", "renew", "let-end", "duration", "convert"]);
    expect(possibilities(one(), ADMIN, NOW).find((found) => found.action === "delete")?.reason).toMatch(/unconfirmed/);
  });

  it("let projects take back what they have just bought, while they may", () => {
    expect(allowed({ deletable_until: NOW + 60 }, EDITOR)).toContain("delete");
    expect(allowed({ deletable_until: NOW }, EDITOR)).not.toContain("delete");
  });

  it("of one that ends in nine months, or was renewed", () => {
    const renewal = (renewable_from: number | undefined): string | undefined =>
      possibilities(one({ renewable_from }), EDITOR, NOW).find((found) => found.action === "renew")?.reason;
    expect(renewal(NOW + 180 * 86400)).toMatch(/^Possible from \d/);
    expect(renewal(undefined)).toBe("It was renewed already.");
    expect(allowed({ renewable_from: undefined })).toEqual(["transfer", "convert"]);
    expect(renewal(NOW)).toBeUndefined();
  });

  it.each(["planned", "pending"] as const)("of a %s one", (status) => {
    expect(allowed({ status })).toEqual(["auto-renew", "duration", "convert", "delete"]);
  });

  it("of one that is offered", () => expect(allowed({ transferable: true })).toEqual(["transfer", "withdraw", "auto-renew"]));

  it.each(["expired", "superseded"] as const)("are none of an %s one", (status) => {
    expect(possibilities(one({ status }), ADMIN, NOW)).toEqual([]);
  });

  it("depend on who asks", () => {
    expect(allowed({ status: "planned" }, EDITOR)).toEqual(["auto-renew", "duration", "convert"]);
    expect(possibilities(one(), NOBODY, NOW)).toEqual([]);
  });
});

describe("mergeProblem", () => {
  it.each([
    [[one()], /at least two/],
    [[one(), one({ status: "planned" })], /confirmed/],
    [[one(), one({ transferable: true })], /offered/],
    [[one(), one({ availability_zone: "west-2" })], /same resource and zone/],
    [[one(), one({ resource_name: "ram" })], /same resource and zone/],
  ])("%#", (chosen, problem) => expect(mergeProblem(chosen)).toMatch(problem));

  it("is none for what goes together", () => expect(mergeProblem([one(), one({ id: 2, amount: 4 })])).toBeUndefined());
});

it("converts whole multiples only", () => {
  const rate = { source_amount: 4096, target_amount: 1 };
  expect(converted(8192, rate)).toBe(2);
  expect(converted(5000, rate)).toBeUndefined();
});
