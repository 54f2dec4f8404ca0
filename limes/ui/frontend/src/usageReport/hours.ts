// What a preview asks for, and amounts of a report in hours.
import { format } from "../lib/units";
import type { Wanted } from "./choice";

/** Rows that are shown. */
export const PREVIEWED = 10;
const HOUR = 3600;
const DAY = 86_400_000;

/** The beginning of a report: of a few projects, and where there is a row for each hour, of the first day. */
export function previewOf(wanted: Wanted): Wanted & { limit: number } {
  const dayAfter = new Date(Date.parse(wanted.from) + DAY).toISOString().slice(0, 10);
  const until = wanted.granularity === "hour" ? dayAfter : wanted.until;
  return { ...wanted, until, limit: wanted.granularity === "month" || wanted.granularity === "total" ? PREVIEWED : 1 };
}

/** Amount-seconds as `2,160 h` or `1.5 TiB h`. */
export const hoursText = (amountSeconds: number, unit: string | undefined): string => `${format(amountSeconds / HOUR, unit)} h`;
