// A list of requests, loaded from the newest one backwards, as far as the user wants to see it.
import { useEffect, useState } from "preact/hooks";
import { loadRequests, type Query, type QuotaRequest } from "../api/requests";
import type { Place } from "../lib/paths";

const FIRST_PAGE = 100;
const PAGE = 500;

interface State {
  key: string;
  rows: QuotaRequest[];
  total: number;
  hasMore: boolean;
}

export interface RequestList {
  /** Undefined until the first page is there. */
  rows: QuotaRequest[] | undefined;
  total: number;
  hasMore: boolean;
  isLoading: boolean;
  error: Error | undefined;
  loadMore: () => void;
  reload: () => void;
}

/** Without a query nothing is asked for yet. */
export function useRequests(at: Place, query: Query | undefined): RequestList {
  const key = JSON.stringify([at, query]);
  const [state, setState] = useState<State>({ key: "", rows: [], total: 0, hasMore: false });
  const [error, setError] = useState<Error>();
  const [wanted, setWanted] = useState<{ key: string; marker: number | undefined; round: number }>({ key, marker: undefined, round: 0 });
  const marker = wanted.key === key ? wanted.marker : undefined;
  const [isLoading, setIsLoading] = useState(true);

  useEffect(() => {
    if (!query) return undefined;
    const controller = new AbortController();
    setIsLoading(true);
    setError(undefined);
    loadRequests(at, query, marker === undefined ? FIRST_PAGE : PAGE, marker, controller.signal)
      .then(
        (answer) =>
          setState((before) => ({
            key,
            rows: marker === undefined ? answer.quota_requests : [...before.rows, ...answer.quota_requests],
            total: answer.total,
            hasMore: answer.quota_request_links.length > 0,
          })),
        (problem: Error) => {
          if (!controller.signal.aborted) setError(problem);
        },
      )
      .finally(() => {
        if (!controller.signal.aborted) setIsLoading(false);
      });
    return () => controller.abort();
  }, [key, marker, wanted.round]);

  const isPresent = state.key === key;
  return {
    rows: isPresent ? state.rows : undefined,
    total: isPresent ? state.total : 0,
    hasMore: isPresent && state.hasMore,
    isLoading,
    error,
    loadMore: () => setWanted((before) => ({ key, marker: state.rows.at(-1)?.id, round: before.round })),
    reload: () => setWanted((before) => ({ key, marker: undefined, round: before.round + 1 })),
  };
}
