// What a preview asks for, and amounts of a report in hours.
import { format } from "../lib/units";
import type { Wanted } from "./choice";

/** Rows that are shown. */
export const PREVIEWED = 10;
const HOUR = 3600;
const DAY = 86_400_000;

/** The beginning of a report, and of how many projects: where there is a row for each hour, only the first day. */
export function previewOf(wanted: Wanted): { wanted: Wanted; projects: number } {
  const dayAfter = new Date(Date.parse(wanted.from) + DAY).toISOString().slice(0, 10);
  const until = wanted.granularity === "hour" ? dayAfter : wanted.until;
  return { wanted: { ...wanted, until }, projects: wanted.granularity === "month" || wanted.granularity === "total" ? PREVIEWED : 1 };
}

/** Amount-seconds as `2,160 h` or `1.5 TiB h`. */
export const hoursText = (amountSeconds: number, unit: string | undefined): string => `${format(amountSeconds / HOUR, unit)} h`;
