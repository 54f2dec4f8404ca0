// Changes in words.
import type { Change, QuotaBound } from "../api/schema";
import { format } from "../lib/units";

export const REASONS: Record<Change["reason"], string> = {
  request: "on request",
  "auto-approval": "as found at the first look",
  constraint: "demanded by a constraint",
  "backend-drift": "changed in the backend, and put right",
  vanished: "gone from Keystone",
};

export const SUBJECTS: Record<Change["what"], string> = {
  quota: "quota",
  backend_quota: "quota in the backend",
  bursting: "bursting",
};

function value(of: number | boolean | null, unit: string | undefined): string {
  if (of === null) return "none";
  return typeof of === "boolean" ? (of ? "on" : "off") : format(of, unit);
}

export const oldOf = (one: Change): string => value(one.old, one.unit);
export const newOf = (one: Change): string => value(one.new, one.unit);

export function whoOf(one: Change): string {
  return one.initiator.type === "job" ? `Limes (${one.initiator.name})` : one.initiator.name || (one.initiator.id ?? "somebody");
}

export function whyOf(one: Change): string {
  return one.detail ? `${REASONS[one.reason]}: ${one.detail}` : REASONS[one.reason];
}

/** What bounds a quota on one side. */
export function boundText(bound: QuotaBound, unit: string | undefined): string {
  return bound.rule === "amount" ? "no bound" : `${format(bound.quota, unit)} (${bound.message})`;
}
