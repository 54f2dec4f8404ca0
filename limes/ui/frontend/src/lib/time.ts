// Times for people. The API speaks in UNIX seconds.

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const UTC_DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
const TIME = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" } as const;
const DATE_TIME = new Intl.DateTimeFormat("en-GB", TIME);
const UTC_DATE_TIME = new Intl.DateTimeFormat("en-GB", { ...TIME, timeZone: "UTC" });
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86400],
  ["month", 30 * 86400],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];

export const formatDate = (seconds: number): string => DATE.format(seconds * 1000);
/** In the browser's time zone, which is named. */
export const formatTime = (seconds: number): string => DATE_TIME.format(seconds * 1000);
/** For what is counted by the days and hours of UTC. */
export const formatUtcDate = (seconds: number): string => UTC_DATE.format(seconds * 1000);
export const formatUtcTime = (seconds: number): string => UTC_DATE_TIME.format(seconds * 1000);

/** `3 minutes ago`, `in 2 years`. */
export function relative(seconds: number, now = Date.now() / 1000): string {
  const difference = seconds - now;
  for (const [unit, size] of STEPS) {
    if (Math.abs(difference) >= size) return RELATIVE.format(Math.trunc(difference / size), unit);
  }
  return "just now";
}

/** UNIX seconds of a datetime-local. */
export function secondsOf(local: string): number | undefined {
  const time = new Date(local).getTime();
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
}

/** The same moment as a datetime-local, rounded up to the minute. */
export function localOf(seconds: number): string {
  const time = new Date(Math.ceil(seconds / 60) * 60_000);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
