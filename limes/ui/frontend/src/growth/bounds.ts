// What is known of a resource whose quota grows by itself.
import type { Figures } from "../api/report";
import { formatExact, parse } from "../lib/units";

/** How far the quota of a project may grow; undefined without a limit, and on other levels. */
export const limitOf = ({ raw }: Figures): number | undefined => ("max_quota" in raw ? raw.max_quota : undefined);

/** Whether the quota of a project is only what usage and commitments need. */
export const isStopped = ({ raw }: Figures): boolean => "forbid_autogrowth" in raw && raw.forbid_autogrowth === true;

export type LimitReading = { limit: number | null; problem?: never } | { problem: string; limit?: never };

/** What was typed as a limit: nothing means none. */
export function readLimit(text: string, { unit }: Figures): LimitReading {
  if (text.trim() === "") return { limit: null };
  const { amount, problem } = parse(text, unit);
  return amount === undefined ? { problem: problem ?? "" } : { limit: amount };
}

export function limitText(figures: Figures): string {
  const limit = limitOf(figures);
  return limit === undefined ? "" : formatExact(limit, figures.unit);
}
