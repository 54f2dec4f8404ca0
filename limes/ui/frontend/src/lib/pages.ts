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

interface Options<Item, Row> {
  path: string;
  /** The key of the list in the answer. */
  list: "domains" | "projects";
  query: Record<string, string | undefined>;
  headers?: Record<string, string>;
  /** Called with each page. */
  arrived?: (items: Item[]) => void;
  /** What is kept of an item. */
  rowOf: (item: Item) => Row;
}

/** The first page is small, so that there is something to see; the others are as large as the API allows. */
const FIRST_PAGE = 100;
const PAGE = 1000;

export function usePages<Item extends { id: string }, Row>({ path, list, query, headers, arrived, rowOf }: Options<Item, Row>): Pages<Row> {
  const [rows, setRows] = useState<Row[]>([]);
  const [isComplete, setIsComplete] = useState(false);
  const [error, setError] = useState<Error>();
  const [round, setRound] = useState(0);
  const key = JSON.stringify([path, query]);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;

    type Answer = Record<string, Item[]> & Record<`${typeof list}_links`, Link[]>;

    async function load(from: string): Promise<void> {
      const ask = (limit: number, marker?: string): Promise<Answer> =>
        get<Answer>(from, { query: { ...query, limit, marker }, headers, signal });
      let found: Row[] = [];
      let next: Promise<Answer> | undefined = ask(FIRST_PAGE);
      while (next) {
        const answer: Answer = await next;
        const items = answer[list] ?? [];
        const isLast = (answer[`${list}_links`] ?? []).length === 0;
        next = isLast ? undefined : ask(PAGE, items.at(-1)?.id); // is on its way while this one is shown
        next?.catch(() => undefined); // the caller that waits for it gets the error
        arrived?.(items);
        found = [...found, ...items.map(rowOf)];
        setRows(found);
      }
      setIsComplete(true);
    }

    setIsComplete(false);
    setError(undefined);
    load(path).catch((problem: Error) => {
      if (!signal.aborted) setError(problem);
    });
    return () => controller.abort();
  }, [key, round]);

  return { rows, isComplete, error, reload: () => setRound((before) => before + 1) };
}
