// Long lists: what is there is shown while the rest is on its way.
import { useEffect, useState } from "preact/hooks";
import { ApiError, respond } from "../api/client";
import { ItemLines } from "./itemLines";

export interface List<Row> {
  rows: Row[];
  isComplete: boolean;
  error: Error | undefined;
  reload: () => void;
}

interface Options<Item, Row> {
  path: string;
  /** The key of the list in the answer. */
  list: "domains" | "projects";
  query: Record<string, string | readonly string[] | undefined>;
  headers?: Record<string, string>;
  /** Called with what has arrived. */
  arrived?: (items: Item[]) => void;
  /** What is kept of an item. */
  rowOf: (item: Item) => Row;
}

/** Milliseconds after which rows that have arrived are shown. */
const PAUSE = 200;

async function readItems<Item>(response: Response, list: string, found: (items: Item[]) => void): Promise<void> {
  const lines = new ItemLines<Item>(list);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) found(lines.add(part.value));
  lines.end();
}

export function useList<Item extends { id: string }, Row>({ path, list, query, headers, arrived, rowOf }: Options<Item, Row>): List<Row> {
  const [rows, setRows] = useState<Row[]>([]);
  const [isComplete, setIsComplete] = useState(false);
  const [error, setError] = useState<Error>();
  const [round, setRound] = useState(0);
  const key = JSON.stringify([path, query]);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;

    async function load(): Promise<void> {
      const response = await respond(path, { query, headers, signal });
      const found: Row[] = [];
      let shownAt = -PAUSE;
      await readItems<Item>(response, list, (items) => {
        if (items.length === 0) return;
        arrived?.(items);
        found.push(...items.map(rowOf));
        if (performance.now() - shownAt < PAUSE) return;
        setRows([...found]);
        shownAt = performance.now();
      }).catch((problem: Error) => {
        throw signal.aborted ? problem : new ApiError(0, "The list broke off before its end. Check your network and try again.");
      });
      setRows(found);
      setIsComplete(true);
    }

    setIsComplete(false);
    setError(undefined);
    load().catch((problem: Error) => {
      if (!signal.aborted) setError(problem);
    });
    return () => controller.abort();
  }, [key, round]);

  return { rows, isComplete, error, reload: () => setRound((before) => before + 1) };
}
