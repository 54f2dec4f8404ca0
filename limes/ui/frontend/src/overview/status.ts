// How scrapes go, as several parts of a page need it: asked for once, and again while somebody looks.
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { loadScrapeStatus } from "../api/attention";
import type { ScrapeStatus } from "../api/schema";
import { pagePath, type Place } from "../lib/paths";
import { session } from "../session/store";

const EVERY = 60_000;

interface Asked {
  at: number;
  /** Undefined while it is on its way, and where nothing came. */
  status: ScrapeStatus | undefined;
  error?: Error;
}

const known = signal<Readonly<Record<string, Asked>>>({});
effect(() => {
  session.value; // somebody else may see something else
  known.value = {};
});

function ask(key: string, at: Place, isForced: boolean): void {
  const before = known.peek()[key];
  if (before && !isForced && Date.now() - before.at < EVERY / 2) return;
  known.value = { ...known.peek(), [key]: { at: Date.now(), status: before?.status } };
  loadScrapeStatus(at).then(
    (status) => {
      known.value = { ...known.peek(), [key]: { at: Date.now(), status } };
    },
    (error: Error) => {
      known.value = { ...known.peek(), [key]: { at: Date.now(), status: before?.status, error } };
    },
  );
}

const keyOf = (at: Place): string => pagePath({ domain: at.domain });

/** Asks again at once: after a page was loaded anew. */
export function refreshStatus(at: Place): void {
  ask(keyOf(at), at, true);
}

/** The state of a cloud or a domain. Without a place nothing is asked for. */
export function useScrapeStatus(at: Place | undefined): ScrapeStatus | undefined {
  const key = at && keyOf(at);
  useEffect(() => {
    if (!key || !at) return undefined;
    ask(key, at, false);
    const timer = setInterval(() => {
      if (!document.hidden) ask(key, at, false);
    }, EVERY);
    return () => clearInterval(timer);
  }, [key, session.value]);
  return key ? known.value[key]?.status : undefined;
}

/** Why there is no such state, where asking for it has failed. */
export function statusError(at: Place): Error | undefined {
  return known.value[keyOf(at)]?.error;
}
