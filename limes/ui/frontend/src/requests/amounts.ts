// The amounts that an approver has typed.
import type { Edit } from "../api/quota";
import { keyOf } from "../api/report";
import { refOf, type WantedQuota } from "../api/requests";
import { parse } from "../lib/units";

export interface Reading {
  /** All amounts if one of them is lower than was asked for; else none. */
  lowered: Edit[];
  /** What cannot be read or granted, by `keyOf`. */
  problems: Map<string, string>;
}

/** An empty field grants what was asked for. */
export function readGrants(wanted: readonly WantedQuota[], typed: Readonly<Record<string, string>>): Reading {
  const problems = new Map<string, string>();
  const grants = wanted.map((one) => {
    const ref = refOf(one);
    const text = typed[keyOf(ref)]?.trim() ?? "";
    const parsed = text === "" ? { amount: one.wanted_quota } : parse(text, one.unit, one.wanted_quota);
    if (parsed.amount === undefined) problems.set(keyOf(ref), parsed.problem);
    else if (parsed.amount > one.wanted_quota) problems.set(keyOf(ref), "More than was asked for");
    return { ...ref, amount: parsed.amount ?? one.wanted_quota };
  });
  const isLowered = grants.some((one, index) => one.amount < wanted[index]!.wanted_quota);
  return { lowered: isLowered ? grants : [], problems };
}
