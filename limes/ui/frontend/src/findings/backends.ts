// What is known of each service and capacitor, in one form.
import type { ScrapeStatus } from "../api/schema";
import { formatTime } from "../lib/time";
import { counted } from "../lib/words";

export interface Backend {
  kind: "service" | "capacitor";
  name: string;
  /** What is wrong, in a few words. */
  problem: string | undefined;
  /** To sort by: how many projects it concerns, and capacitors before all others. */
  urgency: number;
  oldest: number | undefined;
  checkedAt: number | undefined;
}

const STALE = "not read for a long time";
const EVERYWHERE = Number.MAX_SAFE_INTEGER;

export function backendsOf(status: ScrapeStatus): Backend[] {
  return [
    ...status.services.map((one): Backend => {
      const { failing_projects: failing = 0, unwritten_projects: unwritten = 0, projects, failing_since: since } = one;
      const parts = [
        failing > 0 && `fails in ${failing.toLocaleString("en")} of ${counted(projects, "project")}${since === undefined ? "" : ` since ${formatTime(since)}`}`,
        unwritten > 0 && `does not take the quota of ${counted(unwritten, "project")}`,
        failing === 0 && one.is_stale && STALE,
      ].filter((part): part is string => Boolean(part));
      return {
        kind: "service",
        name: one.type,
        problem: parts.join("; ") || undefined,
        urgency: parts.length > 0 ? 1 + failing + unwritten : 0,
        oldest: one.min_scraped_at,
        checkedAt: one.checked_at,
      };
    }),
    ...(status.capacitors ?? []).map((one): Backend => {
      const problem = one.message ? "the last attempt failed" : one.is_stale ? STALE : undefined;
      return {
        kind: "capacitor",
        name: one.id,
        problem,
        urgency: problem ? EVERYWHERE : 0,
        oldest: one.scraped_at,
        checkedAt: one.checked_at,
      };
    }),
  ];
}
