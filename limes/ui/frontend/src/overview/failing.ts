// What fails: services in some or all of the projects, and capacitors.
import type { CapacitorScrape, ScrapeStatus, ServiceScrapes } from "../api/schema";
import type { Report } from "../api/report";
import { readable } from "../lib/messages";
import { formatTime, relative } from "../lib/time";
import { counted } from "../lib/words";

export interface Failing {
  key: string;
  kind: "service" | "capacitor";
  name: string;
  /** What is wrong, as a sentence without its full stop. */
  text: string;
}

/** `whose` figures: `its`, or `the oldest`. */
const age = (whose: string, scrapedAt: number | undefined): string =>
  scrapedAt === undefined ? "there are no figures yet" : `${whose} figures are from ${formatTime(scrapedAt)} (${relative(scrapedAt)})`;

function part(failing: number, projects: number): string {
  if (failing < projects) return `${failing.toLocaleString("en")} of ${counted(projects, "project")}`;
  return projects === 1 ? "the only project" : `all ${counted(projects, "project")}`;
}

function serviceProblem(one: ServiceScrapes): string | undefined {
  const { projects, failing_projects: failing = 0, unwritten_projects: unwritten = 0 } = one;
  if (failing > 0) {
    const since = one.failing_since === undefined ? "" : ` since ${formatTime(one.failing_since)}`;
    return `has been failing in ${part(failing, projects)}${since}; ${age("the oldest", one.min_scraped_at)}`;
  }
  if (unwritten > 0) return `does not take the quota of ${counted(unwritten, "project")}`;
  if (one.is_stale) return `was not read for a long time: ${age("the oldest", one.min_scraped_at)}`;
  return undefined;
}

export function capacitorProblem(one: CapacitorScrape): string | undefined {
  if (one.message) return `has failed ${one.checked_at === undefined ? "" : relative(one.checked_at)}; ${age("its", one.scraped_at)}`;
  return one.is_stale ? `was not asked for a long time: ${age("its", one.scraped_at)}` : undefined;
}

const KINDS = { service: "Service", capacitor: "Capacitor" };

export function failingOf(status: ScrapeStatus): Failing[] {
  const found = (kind: Failing["kind"], name: string, text: string | undefined): Failing[] =>
    text === undefined ? [] : [{ key: `${kind} ${name}`, kind, name, text: `${KINDS[kind]} ${name} ${text}` }];
  return [
    ...status.services.flatMap((one) => found("service", one.type, serviceProblem(one))),
    ...(status.capacitors ?? []).flatMap((one) => found("capacitor", one.id, capacitorProblem(one))),
  ];
}

/** What a project's own report says. The API tells no more of a backend than that it fails, and since when. */
export function failingIn(report: Report): Failing[] {
  return report.services
    .filter((one) => one.problem !== undefined)
    .map((one) => ({ key: one.type, kind: "service", name: one.type, text: readable(one.problem!).replace(/^./, (first) => first.toUpperCase()) }));
}
