// The history, loaded from the newest change backwards.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Change, HistoryAnswer } from "../api/schema";
import { apiPath, type Place } from "../lib/paths";

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
