// The change log: which changes are asked for, page by page, and what they say.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { ChangesAnswer, LoggedChange } from "../api/schema";
import { remember } from "../lib/names";
import { apiPath, type Place } from "../lib/paths";
import { formatTime } from "../lib/time";
import { format } from "../lib/units";
import { SUBJECTS } from "./changes";

const DAY = 86400;
const PAGE = 100;

export interface Filters {
  period?: string | undefined;
  kind?: string | undefined;
  person?: string | undefined;
  service?: string | undefined;
  resource?: string | undefined;
}

export const PERIODS = [
  { value: "recent", title: "Yesterday and today" },
  { value: "yesterday", title: "Yesterday" },
  { value: "week", title: "Last 7 days" },
  { value: "month", title: "Last 30 days" },
  { value: "all", title: "All the time" },
];

export const KINDS: Record<LoggedChange["kind"], string> = { ...SUBJECTS, commitment: "commitments", request: "requests for quota", webhook: "webhooks of projects" };

/** From when until when, in UNIX seconds: days are those of the browser. */
export function timesOf(period: string, now: Date): { from?: number; until?: number } {
  const today = Math.floor(new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime() / 1000);
  const yesterday = Math.floor(new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1).getTime() / 1000);
  const before = (days: number): number => Math.floor(now.getTime() / 1000) - days * DAY;
  switch (period) {
    case "yesterday":
      return { from: yesterday, until: today };
    case "week":
      return { from: before(7) };
    case "month":
      return { from: before(30) };
    case "all":
      return {};
    default:
      return { from: yesterday };
  }
}

/** What of a commitment or a quota was, and is. */
export function beforeAndAfter({ old, new: now, unit, fields = [], amounts = [] }: LoggedChange): [string[], string[]] {
  const value = (of: number | boolean | null): string[] => (of === null ? [] : [typeof of === "boolean" ? (of ? "on" : "off") : format(of, unit)]);
  const [before, after] = old === now ? [[], []] : [value(old), value(now)];
  for (const field of fields) {
    if (field.old !== null) before.push(fieldText(field.name, field.old));
    if (field.new !== null) after.push(fieldText(field.name, field.new));
  }
  for (const one of amounts) {
    const what = `${one.service}/${one.resource}`;
    before.push(`${what}: ${format(one.present, one.unit)}`);
    after.push(`${what}: ${format(one.granted ?? one.wanted, one.unit)}${one.granted === undefined ? " wanted" : ""}`);
  }
  return [before, after];
}

function fieldText(name: string, value: string | number | boolean): string {
  const isTime = typeof value === "number" && /(_at|_by)$/.test(name);
  return `${name.replaceAll("_", " ")}: ${isTime ? formatTime(value) : String(value)}`;
}

export interface Log {
  list: LoggedChange[] | undefined;
  hasMore: boolean;
  isLoading: boolean;
  error: Error | undefined;
  loadMore: () => void;
  reload: () => void;
}

interface State {
  key: string;
  list?: LoggedChange[];
  next?: string | undefined;
  error?: Error;
}

export function useLog(at: Place, { period = "recent", kind, person, service, resource }: Filters): Log {
  const key = JSON.stringify([at, period, kind, person, service, resource]);
  const [state, setState] = useState<State>({ key: "" });
  const [round, setRound] = useState(0);
  const [more, setMore] = useState<string>();

  useEffect(() => {
    const controller = new AbortController();
    const isNext = more !== undefined && state.key === key;
    const query = { ...timesOf(period, new Date()), kind, person, service, resource, limit: PAGE };
    const first = (): Promise<ChangesAnswer> => get(at.domain ? apiPath(at, "/changes") : "/v1/changes", { query, signal: controller.signal });
    (isNext ? get<ChangesAnswer>(more, { signal: controller.signal }) : first()).then(
      ({ changes, changes_links: [next] }) => {
        remember(changes.flatMap(({ domain, project }) => [domain, ...(project ? [project] : [])]).filter((one) => one.name));
        setState((before) => ({ key, list: [...(isNext ? (before.list ?? []) : []), ...changes], next: next?.href }));
        setMore(undefined);
      },
      (error: Error) => {
        if (!controller.signal.aborted) setState((before) => ({ ...(before.key === key ? before : { key }), error }));
      },
    );
    return () => controller.abort();
  }, [key, round, more]);

  const isPresent = state.key === key;
  return {
    list: isPresent ? state.list : undefined,
    hasMore: isPresent && state.next !== undefined,
    isLoading: !isPresent || more !== undefined,
    error: isPresent ? state.error : undefined,
    loadMore: () => setMore(state.next),
    reload: () => setRound((before) => before + 1),
  };
}
