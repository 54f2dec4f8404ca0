// How usage has changed over some days, in words and as lines of a chart.
import type { UsageDay } from "../api/schema";
import type { Line } from "../components/Chart";
import { formatUtcDate, formatUtcTime } from "../lib/time";
import { format } from "../lib/units";

const HOUR = 3600;
const DAY = 24 * HOUR;

const isHour = (date: string): boolean => date.includes("T");
const isMonth = (date: string): boolean => date.length === "2026-01".length;

/** A moment in it, in UNIX seconds: the beginning of an hour, noon (UTC) of a day, the middle of a month. */
function timeOf({ date }: UsageDay): number {
  return Date.parse(isHour(date) ? date : `${isMonth(date) ? `${date}-15` : date}T12:00:00Z`) / 1000;
}

export const timesOf = (points: UsageDay[]): number[] => points.map(timeOf);

/** An hour, a day or a month, in words. Days and months are those of UTC. */
export function nameOfTime(date: string): string {
  if (isHour(date)) return `${date.slice(0, 10)} ${date.slice(11, 16)}`;
  return date;
}

/** The axis of hours: a day at least. Others go from the first moment to the last. */
export function axisOf(points: UsageDay[], outlook?: Outlook): [number, number] | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || !isHour(last.date)) return undefined;
  const end = timeOf(last) + HOUR;
  return [Math.min(timeOf(first), end - DAY), outlook?.at ?? end];
}

/** `Used grew by 120 (+20 %), from 600 on 1 Nov 2026 to 720 on 22 Nov 2026.` */
export function growthText(points: UsageDay[], unit: string): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return "";
  const word = isHour(first.date) ? "hour" : isMonth(first.date) ? "month" : "day";
  const [from, to] = [first, last].map((one) => (isHour(one.date) ? formatUtcTime : formatUtcDate)(Date.parse(one.date) / 1000));
  if (first === last) return `${format(first.used, unit)} on ${from}. One ${word} is too little to tell how it grows.`;
  const change = last.used - first.used;
  const ends = `from ${format(first.used, unit)} on ${from} to ${format(last.used, unit)} on ${to}`;
  if (change === 0) return `Usage is what it was: ${ends}.`;
  const share = first.used > 0 ? ` (${change > 0 ? "+" : "−"}${Math.round((100 * Math.abs(change)) / first.used)} %)` : "";
  return `Usage ${change > 0 ? "grew" : "fell"} by ${format(Math.abs(change), unit)}${share}, ${ends}.`;
}

const LIMITS = [
  { key: "quota", title: "Quota", colour: "--muted" },
  { key: "capacity", title: "Capacity", colour: "--over" },
] as const;

/** Quota and capacity, where there are any. Capacity is known of the cloud only. */
export const limitsIn = (points: UsageDay[]): (typeof LIMITS)[number][] => LIMITS.filter(({ key }) => points.some((one) => one[key] !== undefined));

/** The lines of a chart, and where its axis ends. With an outlook they go on: limits as they are, usage as it is expected. */
export function linesOf(points: UsageDay[], outlook: Outlook | undefined): Line[] {
  const ahead = <T>(amount: T): T[] => (outlook ? [amount] : []);
  const limits = limitsIn(points).map(({ key, title, colour }): Line => {
    const amounts = points.map((one) => one[key] ?? null);
    return { title, colour, amounts: [...amounts, ...ahead(amounts.at(-1) ?? null)], isStepped: true };
  });
  const expected = outlook && { title: "Expected", amounts: [...points.slice(1).map(() => null), outlook.from, outlook.to], colour: "--usage", isDashed: true };
  return [
    { title: "Used", amounts: [...points.map((one) => one.used), ...ahead(null)], colour: "--usage", isFilled: true },
    { title: "Committed", amounts: [...points.map((one) => one.committed), ...ahead(null)], colour: "--committed", isStepped: true },
    ...limits,
    ...(expected ? [expected] : []),
  ];
}

/** What usage is expected to be. */
export interface Outlook {
  /** UNIX seconds. */
  at: number;
  from: number;
  to: number;
}

/** Half as far ahead as the points go back; nothing without a forecast. */
export function outlookOf(points: UsageDay[], growthPerDay: number | undefined): Outlook | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (growthPerDay === undefined || !first || !last || first === last) return undefined;
  const ahead = (timeOf(last) - timeOf(first)) / 2;
  return { at: timeOf(last) + ahead, from: last.used, to: Math.max(0, last.used + (growthPerDay * ahead) / DAY) };
}
