// Which duration the form of a new commitment begins with.
import type { Commitment } from "../api/schema";

const DAYS = { second: 1 / 86400, minute: 1 / 1440, hour: 1 / 24, day: 1, month: 30.4375, year: 365.25 } as const;
const PART = /(\d+) (second|minute|hour|day|month|year)s?/g;

/** Roughly how many days `1 year, 3 months` are: to compare durations, not to compute dates. */
export function roughDays(duration: string): number {
  return [...duration.matchAll(PART)].reduce((sum, [, count, unit]) => sum + Number(count) * DAYS[unit as keyof typeof DAYS], 0);
}

const YEAR = roughDays("1 year");

/**
 * The duration of the project's newest commitment to the resource, as most people buy more of the same; else the
 * longest one of at most a year. The shortest is hardly ever meant, and a long one binds for years.
 */
export function usualDuration(durations: string[], resource: string, commitments: Commitment[]): string {
  const own = commitments.filter((one) => `${one.service_type}/${one.resource_name}` === resource && durations.includes(one.duration));
  const newest = own.reduce<Commitment | undefined>((best, one) => (best && best.id > one.id ? best : one), undefined);
  if (newest) return newest.duration;
  const byLength = durations.toSorted((one, other) => roughDays(one) - roughDays(other));
  return byLength.findLast((one) => roughDays(one) <= YEAR) ?? byLength[0] ?? "";
}
