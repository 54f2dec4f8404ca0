// Which requests a list shows: what waits for a decision first, for those who decide.
import type { Query } from "../api/requests";
import { type Level, levelOf, type Place } from "../lib/paths";

export interface Shown {
  title: string;
  query: Query;
  /** Instead of rows, where there are none. */
  nothing: string;
}

const CLOSED = ["approved", "partly_approved", "rejected", "withdrawn", "superseded", "expired"];

/** What waits for those who decide on this level, or confirm what members of a project propose. */
export const WAITING: Record<Level, Query> = {
  cloud: { level: "domain", status: "open" },
  domain: { level: "project", status: "open", passed_on: "false" },
  project: { status: "proposed" },
};

const OPEN: Shown = { title: "Open", query: { status: "open" }, nothing: "No request is open." };
const DECIDED: Shown = { title: "Closed", query: { status: CLOSED }, nothing: "No request was decided on yet." };
const ALL: Shown = { title: "All", query: {}, nothing: "There are no requests for more quota yet." };

const LISTS: Record<Level, Record<string, Shown>> = {
  cloud: {
    waiting: { title: "Waiting for you", query: WAITING.cloud, nothing: "No request of a domain waits for a decision." },
    projects: { title: "Open, of projects", query: { level: "project", status: "open" }, nothing: "No request of a project is open." },
    closed: DECIDED,
    all: ALL,
  },
  domain: {
    waiting: { title: "Waiting for you", query: WAITING.domain, nothing: "No request of a project waits for a decision." },
    passed: { title: "Passed on", query: { ...WAITING.domain, passed_on: "true" }, nothing: "No open request was passed on." },
    own: { title: "Of the domain", query: { level: "domain" }, nothing: "There are no requests for more quota of the domain yet." },
    closed: DECIDED,
    all: ALL,
  },
  project: {
    waiting: { title: "Waiting for you", query: WAITING.project, nothing: "No proposal of a member waits to be confirmed." },
    proposed: { title: "Proposed", query: WAITING.project, nothing: "No proposal waits for an admin of the project." },
    open: OPEN,
    closed: DECIDED,
    all: ALL,
  },
};

/** The choices at a place. Those who decide begin with what waits for them, others with everything. */
export function listsOf(at: Place, mayDecide: boolean): Record<string, Shown> {
  const { waiting, proposed, ...others } = LISTS[levelOf(at)];
  if (mayDecide && waiting) return { waiting, ...others };
  return { ...(proposed && { proposed }), open: OPEN, ...others };
}
