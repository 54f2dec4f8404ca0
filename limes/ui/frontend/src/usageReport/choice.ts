// What a usage report covers: the time, its steps, the resource. All times are UTC.
import type { Choices } from "../lib/address";

export type Granularity = "month" | "day" | "hour" | "total";

export const GRANULARITIES: { value: Granularity; title: string }[] = [
  { value: "month", title: "Month" },
  { value: "day", title: "Day" },
  { value: "hour", title: "Hour" },
  { value: "total", title: "All of the time" },
];

/** The choice of a month that leads to the fields for single days. */
export const OTHER_DAYS = "days";
const MONTHS = 24;

/** What the API is asked for: `until` is the first day that is not included. */
export interface Wanted {
  from: string;
  until: string;
  granularity: Granularity;
  service?: string | undefined;
  resource?: string | undefined;
}

export interface Reading {
  /** Missing: there is something to correct first. */
  wanted?: Wanted;
  problem?: string;
  /** Of the time, as in names of files. */
  period: string;
}

const isoDay = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);
const dayAfter = (day: string): string => isoDay(Date.parse(day) + 86_400_000);

/** `2026-10`, or that month plus or minus a number of months. */
function monthBeside(month: string, by: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return isoDay(Date.UTC(year, number - 1 + by, 1)).slice(0, 7);
}

/** The present month and those before it, the newest first. */
export function monthsUpTo(now: Date, hasBefore: boolean): string[] {
  const present = now.toISOString().slice(0, 7);
  return Array.from({ length: hasBefore ? MONTHS : 1 }, (_, index) => monthBeside(present, -index));
}

/** The last month that has ended; the present one where there is none before. */
export function usualMonth(now: Date, hasBefore: boolean): string {
  const [present, last] = monthsUpTo(now, hasBefore);
  return last ?? present!;
}

export function monthTitle(month: string): string {
  return new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" }).format(Date.parse(`${month}-01`));
}

/** The first and the last day of a month. */
export const daysOf = (month: string): { first: string; last: string } => {
  const first = `${month}-01`;
  return { first, last: isoDay(Date.parse(`${monthBeside(month, 1)}-01`) - 86_400_000) };
};

/** What the address says. Days that are not there are those of the usual month. */
export function readChoice(choices: Choices, usual: string): Reading {
  const month = choices.month ?? usual;
  const isDays = month === OTHER_DAYS;
  if (!isDays && !isMonth(month)) return { problem: "This month cannot be read.", period: "" };
  const usually = daysOf(isDays ? usual : month);
  const first = isDays ? (choices.first ?? usually.first) : usually.first;
  const last = isDays ? (choices.last ?? usually.last) : usually.last;
  const period = isDays ? `${first}-to-${last}` : month;
  if (!isDay(first) || !isDay(last)) return { problem: "Both days are needed.", period };
  if (last < first) return { problem: "The last day is before the first.", period };
  const until = dayAfter(last);
  const granularity = GRANULARITIES.find((one) => one.value === choices.each)?.value ?? "month";
  if (granularity === "month" && !(first.endsWith("-01") && until.endsWith("-01"))) {
    return { problem: "These are not whole months: choose rows for each day, each hour or all of the time.", period };
  }
  const [service, resource] = choices.resource ? choices.resource.split("/") : [];
  return { wanted: { from: first, until, granularity, service, resource }, period };
}

const isMonth = (text: string): boolean => /^\d{4}-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}-01`));
const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** `limes-usage-acme-2026-10.csv`. What differs from the usual is in the name, so that no file replaces another. */
export function reportFile(names: readonly string[], period: string, { granularity, service, resource }: Wanted): string {
  const steps = granularity === "total" ? "total" : granularity === "month" ? "" : `by ${granularity}`;
  const words = ["limes usage", ...names, service, resource, period, steps].filter(Boolean).join(" ");
  return `${words.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/-$/, "")}.csv`;
}
