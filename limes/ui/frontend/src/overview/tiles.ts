// The tiles of the first page: what needs attention, how much of it, and the list that each one counts.
//
// To add one, write a `TileSource` and put it into `TILES`.
import { loadExpiring, loadFullest } from "../api/attention";
import { loadInconsistencies } from "../api/findings";
import { countRequests } from "../api/requests";
import type { Report } from "../api/report";
import type { Rights } from "../api/rights";
import type { ScrapeStatus } from "../api/schema";
import { findingsOf } from "../findings/lists";
import { type Level, levelOf, pagePath, type Place } from "../lib/paths";
import { shareOf, type State, stateOf, worst } from "../lib/state";
import { relative } from "../lib/time";
import { counted } from "../lib/words";
import { WAITING } from "../requests/shown";
import { decidesAt } from "../requests/waiting";
import { listPath } from "../requests/words";
import { failingIn, failingOf } from "./failing";

export interface Tile {
  count: number;
  state: State;
  /** A second line: the most urgent one, or when it was looked at. */
  text: string;
  href: string;
}

/** What tiles can be made of without asking for more. */
export interface Known {
  at: Place;
  rights: Rights | undefined;
  report: Report | undefined;
  status: ScrapeStatus | undefined;
  /** Why something of this is missing. */
  error?: Error | undefined;
}

export interface TileSource {
  key: string;
  title: string;
  /** Who has not these rights does not see it. Without, it is for all who see the page. */
  isAllowed?: (rights: Rights, at: Place) => boolean;
  /** From what is there already; undefined until it is. */
  from?: (known: Known) => Tile | undefined;
  /** From what it has to ask for. */
  load?: (at: Place, signal: AbortSignal) => Promise<Tile>;
}

export const SOON_DAYS = 30;

const RESOURCES: TileSource = {
  key: "resources",
  title: "Resources nearly full",
  from: ({ at, report }) => {
    if (!report) return undefined;
    const all = report.services.flatMap((one) => one.resources).filter((one) => stateOf(one.usage, one.limit) !== "ok");
    const [fullest] = all.toSorted((one, other) => shareOf(other.usage, other.limit) - shareOf(one.usage, one.limit));
    return {
      count: all.length,
      state: worst(all.map((one) => stateOf(one.usage, one.limit))),
      text: fullest ? `Fullest: ${fullest.title}` : "None above 80 %",
      href: pagePath(at, "?show=full"),
    };
  },
};

const PROJECTS: TileSource = {
  key: "projects",
  title: "Quotas nearly full",
  isAllowed: (rights, at) => (at.domain ? rights.domain.list_projects : rights.cloud.list_projects),
  load: async (at, signal) => {
    const { above, above_95: most, above_quota: over } = (await loadFullest(at, 1, signal)).counts;
    return {
      count: above,
      state: over > 0 ? "over" : most > 0 ? "critical" : above > 0 ? "high" : "ok",
      text: above === 0 ? "None above 80 %" : over > 0 ? `${over.toLocaleString("en")} above quota` : `${most.toLocaleString("en")} above 95 %`,
      href: at.domain ? pagePath(at, "/full") : "/ui/full",
    };
  },
};

const EXPIRING: TileSource = {
  key: "expiring",
  title: "Commitments ending",
  isAllowed: (rights, at) => (at.project ? rights.project.show : at.domain ? rights.domain.show : rights.cloud.list_commitments),
  load: async (at, signal) => {
    const { expiring_commitments: [first], total } = await loadExpiring(at, SOON_DAYS, 1, signal);
    return {
      count: total,
      state: total > 0 ? "high" : "ok",
      text: first ? `The first ends ${relative(first.expires_at)}` : `None within ${SOON_DAYS} days`,
      href: at.domain ? pagePath(at, "/expiring") : "/ui/expiring",
    };
  },
};

const checked = ({ checked_at: at }: ScrapeStatus): string => (at === undefined ? "Not checked yet" : `Last checked ${relative(at)}`);

const BACKENDS: TileSource = {
  key: "backends",
  title: "Failing backends",
  isAllowed: (rights, at) => (at.domain ? rights.domain.show : rights.cloud.show_errors),
  from: ({ at, status }) => {
    if (!status) return undefined;
    const count = failingOf(status).length;
    return { count, state: count > 0 ? "over" : "ok", text: checked(status), href: at.domain ? pagePath(at, "/backends") : "/ui/scrape-errors" };
  },
};

const SERVICES: TileSource = {
  key: "backends",
  title: "Failing backends",
  from: ({ at, report }) => {
    if (!report) return undefined;
    const count = failingIn(report).length;
    const times = report.services.flatMap((one) => one.scrapedAt ?? []);
    const text = times.length > 0 ? `Oldest figures ${relative(Math.min(...times))}` : "No figures yet";
    return { count, state: count > 0 ? "over" : "ok", text, href: pagePath(at, "?show=failing") };
  },
};

const INCONSISTENCIES: TileSource = {
  key: "inconsistencies",
  title: "Inconsistencies",
  isAllowed: (rights) => rights.cloud.show_inconsistencies,
  load: async (_, signal) => {
    const lists = Object.values(findingsOf(await loadInconsistencies(signal)));
    const count = lists.reduce((sum, one) => sum + one.length, 0);
    const kinds = lists.filter((one) => one.length > 0).length;
    return { count, state: count > 0 ? "high" : "ok", text: count > 0 ? `In ${counted(kinds, "list")} of ${lists.length}` : "None", href: "/ui/inconsistencies" };
  },
};

const REQUESTS: TileSource = {
  key: "requests",
  title: "Requests waiting",
  isAllowed: decidesAt,
  load: async (at) => {
    const count = await countRequests(at, WAITING[levelOf(at)]);
    const text = at.project ? "For you to confirm" : "For your decision";
    return { count, state: count > 0 ? "high" : "ok", text: count > 0 ? text : "None", href: listPath(at, "?show=waiting") };
  },
};

const TILES: Record<Level, TileSource[]> = {
  cloud: [RESOURCES, PROJECTS, REQUESTS, EXPIRING, BACKENDS, INCONSISTENCIES],
  domain: [RESOURCES, PROJECTS, REQUESTS, EXPIRING, BACKENDS],
  project: [RESOURCES, REQUESTS, EXPIRING, SERVICES],
};

/** The tiles of a level; those that need rights only if the user has them, as soon as that is known. */
export function tilesFor({ at, rights }: Known): TileSource[] {
  return TILES[levelOf(at)].filter((one) => !one.isAllowed || (rights !== undefined && one.isAllowed(rights, at)));
}
