// How usage has changed over some days, in words and as lines of a chart.
import type { UsageDay } from "../api/schema";
import { formatDate } from "../lib/time";
import { format } from "../lib/units";

/** Noon (UTC) of each day, or the beginning of each hour, in UNIX seconds. */
export const timesOf = (points: UsageDay[]): number[] =>
  points.map(({ date }) => Date.parse(date.includes("T") ? date : `${date}T12:00:00Z`) / 1000);

/** `Used grew by 120 (+20 %), from 600 on 1 Nov 2026 to 720 on 22 Nov 2026.` */
export function growthText(days: UsageDay[], unit: string): string {
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return "";
  const [from, to] = [first, last].map((one) => formatDate(Date.parse(one.date) / 1000));
  if (first === last) return `${format(first.used, unit)} on ${from}. One day is too little to tell how it grows.`;
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
