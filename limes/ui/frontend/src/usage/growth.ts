// How usage has changed over some days, in words and as lines of a chart.
import type { UsageDay } from "../api/schema";
import { formatDate, formatTime } from "../lib/time";
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

/** The axis of hours: a day at least. */
export function axisOf(points: UsageDay[]): [number, number] | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || !isHour(last.date)) return undefined;
  const end = timeOf(last) + HOUR;
  return [Math.min(timeOf(first), end - DAY), end];
}

/** `Used grew by 120 (+20 %), from 600 on 1 Nov 2026 to 720 on 22 Nov 2026.` */
export function growthText(points: UsageDay[], unit: string): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return "";
  const word = isHour(first.date) ? "hour" : isMonth(first.date) ? "month" : "day";
  const [from, to] = [first, last].map((one) => (isHour(one.date) ? formatTime : formatDate)(Date.parse(one.date) / 1000));
  if (first === last) return `${format(first.used, unit)} on ${from}. One ${word} is too little to tell how it grows.`;
  const change = last.used - first.used;
  const ends = `from ${format(first.used, unit)} on ${from} to ${format(last.used, unit)} on ${to}`;
  if (change === 0) return `Usage is what it was: ${ends}.`;
  const share = first.used > 0 ? ` (${change > 0 ? "+" : "−"}${Math.round((100 * Math.abs(change)) / first.used)} %)` : "";
  return `Usage ${change > 0 ? "grew" : "fell"} by ${format(Math.abs(change), unit)}${share}, ${ends}.`;
}

/** Lines of quota and capacity, where there are any. Capacity is known of the cloud only. */
export function limitLines(days: UsageDay[]): { title: string; amounts: (number | null)[]; colour: string; isStepped: true }[] {
  const lines = [
    { title: "Quota", colour: "--muted", amounts: days.map((one) => one.quota ?? null) },
    { title: "Capacity", colour: "--over", amounts: days.map((one) => one.capacity ?? null) },
  ];
  return lines.filter((line) => line.amounts.some((amount) => amount !== null)).map((line) => ({ ...line, isStepped: true }));
}
