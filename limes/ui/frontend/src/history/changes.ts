// The history, loaded from the newest change backwards.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { HistoryAnswer, QuotaBound, QuotaChange as Change } from "../api/schema";
import { apiPath, type Place } from "../lib/paths";
import { readable } from "../lib/messages";
import { format } from "../lib/units";

const PAGE = 200;

export interface Changes {
  list: Change[] | undefined;
  hasMore: boolean;
  error: Error | undefined;
  loadMore: () => void;
}

interface State {
  key: string;
  list: Change[] | undefined;
  hasMore: boolean;
  error: Error | undefined;
}

export function useChanges(place: Place, service: string | undefined, resource: string | undefined): Changes {
  const key = JSON.stringify([place, service, resource]);
  const [state, setState] = useState<State>({ key, list: undefined, hasMore: false, error: undefined });
  const [marker, setMarker] = useState<number>();

  useEffect(() => {
    const controller = new AbortController();
    const isFirst = state.key !== key || marker === undefined;
    const query = { service, resource, limit: PAGE, marker: isFirst ? undefined : marker };
    get<HistoryAnswer>(apiPath(place, "/history"), { query, signal: controller.signal }).then(
      (answer) =>
        setState((before) => ({
          key,
          list: [...(isFirst ? [] : (before.list ?? [])), ...answer.history],
          hasMore: answer.history_links.length > 0,
          error: undefined,
        })),
      (error: Error) => {
        if (!controller.signal.aborted) setState((before) => ({ ...before, error }));
      },
    );
    return () => controller.abort();
  }, [key, marker]);

  const isPresent = state.key === key;
  return {
    list: isPresent ? state.list : undefined,
    hasMore: isPresent && state.hasMore,
    error: state.error,
    loadMore: () => setMarker(state.list?.at(-1)?.number),
  };
}

export const REASONS: Record<Change["reason"], string> = {
  request: "on request",
  "auto-approval": "as found at the first scrape",
  constraint: "because of a constraint",
  override: "because the operator changed the overrides",
  "backend-drift": "to correct the backend",
  autogrow: "computed automatically",
  "distribution-model": "because the operator changed the distribution model",
  "temporary-quota": "because a quota for a time started or ended",
  vanished: "because it was deleted in Keystone",
};

export const SUBJECTS: Record<Change["what"], string> = {
  quota: "quota",
  backend_quota: "quota in the backend",
  bursting: "bursting",
  max_quota: "limit of growth",
  min_quota: "granted quota",
  forbid_autogrowth: "growth forbidden",
  override: "override",
};

function value(of: number | boolean | null, unit: string | undefined): string {
  if (of === null) return "none";
  return typeof of === "boolean" ? (of ? "on" : "off") : format(of, unit);
}

export const oldOf = (one: Change): string => value(one.old, one.unit);
export const newOf = (one: Change): string => value(one.new, one.unit);

export function whoOf(one: Change): string {
  return one.initiator.type === "job" ? `Limes (${one.initiator.name})` : one.initiator.name || (one.initiator.id ?? "an unknown user");
}

export function whyOf(one: Change): string {
  return one.detail ? `${REASONS[one.reason]}: ${readable(one.detail)}` : REASONS[one.reason];
}

/** What bounds a quota on one side. */
export function boundText(bound: QuotaBound, unit: string | undefined): string {
  return bound.rule === "amount" ? "no bound" : `${format(bound.quota, unit)} (${bound.message})`;
}
