// What the days of a resource in one availability zone come to.
import type { Report } from "../api/report";
import type { Utilisation, UtilisationDay } from "../api/schema";
import { format, formatExact } from "../lib/units";

export interface Summary {
  key: string;
  of: Utilisation;
  /** Committed just now. */
  committed: number;
  /** Averages over the days. */
  used: number;
  unused: number;
}

const mean = (days: UtilisationDay[], key: "used" | "unused"): number =>
  days.length === 0 ? 0 : Math.round(days.reduce((sum, one) => sum + one[key], 0) / days.length);

/** `report` knows what is committed now: a day that is not over yet has only averages. */
export function summarise(of: Utilisation, report: Report): Summary {
  const resource = report.services.flatMap((one) => one.resources).find((one) => one.service === of.service_type && one.name === of.resource_name);

  return {
    key: `${of.service_type}/${of.resource_name}/${of.availability_zone}`,
    of,
    committed: resource?.azs.find((one) => one.name === of.availability_zone)?.committed ?? 0,
    used: mean(of.days, "used"),
    unused: mean(of.days, "unused"),
  };
}

/** Days as the axis of a chart: UNIX seconds of their noon in UTC. */
export function timesOf(days: UtilisationDay[]): number[] {
  return days.map((one) => Date.parse(`${one.date}T12:00:00Z`) / 1000);
}

/** How much more would be used well. */
export const missing = ({ of, committed }: Summary): number => Math.max(0, of.recommended_amount - committed);

/** Where that is bought, below the project's page. */
export function commitPath(summary: Summary): string {
  const { service_type: service, resource_name: resource, availability_zone: az, unit } = summary.of;
  const amount = formatExact(missing(summary), unit);
  return `/commitments?${new URLSearchParams({ do: "buy", of: `${service}/${resource}`, az, amount })}`;
}

/** What to do about it, in a sentence. */
export function advice({ of, committed }: Summary): string {
  const { recommended_amount: recommended, unit } = of;
  const fits = `${format(recommended, unit)} were in use all day on nine days of ten`;
  if (recommended > committed) return `${fits}, and ${format(committed, unit)} are committed: ${format(recommended - committed, unit)} more would be used well.`;
  if (recommended < committed) return `${fits}, but ${format(committed, unit)} are committed: ${format(committed - recommended, unit)} could go to another project.`;
  return `${fits}: that is just what is committed.`;
}
