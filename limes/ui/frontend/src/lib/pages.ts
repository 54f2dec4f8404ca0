// Long lists, page by page: what is there is shown while the rest is on its way.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Link } from "../api/schema";

export interface Pages<Row> {
  rows: Row[];
  isComplete: boolean;
  error: Error | undefined;
  reload: () => void;
}

interface Options<Row> {
  /** Undefined: nothing is asked for yet. */
  path: string | undefined;
  /** The key of the list in the answer. */
  list: "domains" | "projects";
  query: Record<string, string | undefined>;
  headers?: Record<string, string>;
  /** Called with each page. */
  arrived?: (rows: Row[]) => void;
}

const PAGE = 500;

export function usePages<Row extends { id: string }>({ path, list, query, headers, arrived }: Options<Row>): Pages<Row> {
  const [rows, setRows] = useState<Row[]>([]);
  const [isComplete, setIsComplete] = useState(false);
  const [error, setError] = useState<Error>();
  const [round, setRound] = useState(0);
  const key = JSON.stringify([path, query]);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;

    async function load(from: string): Promise<void> {
      let found: Row[] = [];
      for (let marker: string | undefined, more = true; more; marker = found.at(-1)?.id) {
        const answer = await get<Record<string, Row[]> & Record<`${typeof list}_links`, Link[]>>(from, {
          query: { ...query, limit: PAGE, marker },
          headers,
          signal,
        });
        const page = answer[list] ?? [];
        arrived?.(page);
        found = [...found, ...page];
        setRows(found);
        more = (answer[`${list}_links`] ?? []).length > 0;
      }
      setIsComplete(true);
    }

    setIsComplete(false);
    setError(undefined);
    if (path === undefined) return undefined;
    load(path).catch((problem: Error) => {
      if (!signal.aborted) setError(problem);
    });
    return () => controller.abort();
  }, [key, round]);

  return { rows, isComplete, error, reload: () => setRound((before) => before + 1) };
}
