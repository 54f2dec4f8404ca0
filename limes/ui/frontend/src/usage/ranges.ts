// Over which times charts of usage look back: what there are data for.
import type { UsageDay, UsageOfResource } from "../api/schema";
import type { Option } from "../components/Select";

const DAY = 86400;

export type Granularity = "hour" | "day" | "month";

export interface Range {
  days: number;
  title: string;
  granularity: Granularity;
}

const LONGEST: Range = { days: 3650, title: "10 years", granularity: "month" };
const RANGES: Range[] = [
  { days: 1, title: "day", granularity: "hour" },
  { days: 7, title: "7 days", granularity: "hour" },
  { days: 30, title: "30 days", granularity: "day" },
  { days: 90, title: "90 days", granularity: "day" },
  { days: 365, title: "365 days", granularity: "day" },
  LONGEST,
];
/** What is shown at first, where there are data for more. */
const USUAL = 30;

/** The shortest range that has all data; `since` is when the oldest of them begin. */
const fitting = (since: number, now: number): Range => RANGES.find((one) => since >= now - one.days * DAY) ?? LONGEST;

/** The one that was chosen, if there is such a range, or else the one that suits the data. */
export function rangeOf(chosen: string, since: number | undefined, now: number): Range {
  const known = RANGES.find((one) => String(one.days) === chosen);
  if (known) return known;
  const days = Math.min(since === undefined ? USUAL : fitting(since, now).days, USUAL);
  return RANGES.find((one) => one.days === days) ?? LONGEST;
}

/** Those for which there are data, and the one that is shown. */
export function rangesFor(since: number | undefined, shown: Range, now: number): Option[] {
  const most = since === undefined ? USUAL : fitting(since, now).days;
  return RANGES.filter((one) => one.days <= most || one === shown).map((one) => ({ value: String(one.days), title: one.title }));
}

/** The points of a range. Nothing if it is one of hours, which are not kept for so long. */
export function pointsOf(of: UsageOfResource, { days, granularity }: Range, now: number): UsageDay[] | undefined {
  if (granularity === "day") return of.days;
  if (granularity === "month") return of.months ?? [];
  const begin = now - days * DAY;
  const hours = (of.hours ?? []).filter(({ date }) => Date.parse(date) / 1000 > begin);
  const first = hours[0] ? Date.parse(hours[0].date) / 1000 : now;
  return days > 1 && first > Math.max(begin, of.since) + DAY ? undefined : hours;
}
