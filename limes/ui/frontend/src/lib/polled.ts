// Documents of a place that several parts of a page need: asked for once, and again while the page is looked at.
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { session } from "../session/store";
import { pagePath, type Place } from "./paths";

const EVERY = 60_000;

interface Asked<T> {
  at: number;
  /** Undefined while it is on its way, and where nothing came. */
  data: T | undefined;
  error?: Error;
}

export interface Polled<T> {
  /** The document of a place. Without a place nothing is asked for. */
  use: (at: Place | undefined) => T | undefined;
  /** Asks again at once, such as after a change. */
  refresh: (at: Place) => void;
  /** Why there is no document, where asking for it has failed. */
  errorOf: (at: Place) => Error | undefined;
}

export function polled<T>(load: (at: Place) => Promise<T>, keyOf: (at: Place) => string = pagePath): Polled<T> {
  const known = signal<Readonly<Record<string, Asked<T>>>>({});
  effect(() => {
    session.value; // another user may see other things
    known.value = {};
  });

  function ask(at: Place, isForced: boolean): void {
    const key = keyOf(at);
    const before = known.peek()[key];
    if (before && !isForced && Date.now() - before.at < EVERY / 2) return;
    known.value = { ...known.peek(), [key]: { at: Date.now(), data: before?.data } };
    load(at).then(
      (data) => {
        known.value = { ...known.peek(), [key]: { at: Date.now(), data } };
      },
      (error: Error) => {
        known.value = { ...known.peek(), [key]: { at: Date.now(), data: before?.data, error } };
      },
    );
  }

  function use(at: Place | undefined): T | undefined {
    const key = at && keyOf(at);
    useEffect(() => {
      if (!key || !at) return undefined;
      ask(at, false);
      const timer = setInterval(() => {
        if (!document.hidden) ask(at, false);
      }, EVERY);
      return () => clearInterval(timer);
    }, [key, session.value]);
    return key ? known.value[key]?.data : undefined;
  }

  return { use, refresh: (at) => ask(at, true), errorOf: (at) => known.value[keyOf(at)]?.error };
}
