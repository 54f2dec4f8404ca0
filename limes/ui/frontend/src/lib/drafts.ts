// Input that was typed and not sent: it outlives the session, and leaving the page asks first.
import { effect } from "@preact/signals";
import { useLocation } from "preact-iso";
import { useEffect, useRef, useState } from "preact/hooks";
import { session } from "../session/store";

interface Open {
  first: unknown;
  value: unknown;
  url: string;
  /** Whether leaving asks, where it was changed. */
  asks: boolean;
}

/** Of forms that are shown. */
const open = new Map<string, Open>();
/** Of forms that the end of a session has taken away. In memory only: they may be secret. */
const kept = new Map<string, unknown>();
let owner = "";

effect(() => {
  const { user, scope } = session.value ?? {};
  if (!user || !scope) return;
  const present = JSON.stringify([user.id, scope]);
  if (present !== owner) kept.clear(); // what others have typed is not theirs
  owner = present;
});

const isChanged = ({ first, value }: Open): boolean => JSON.stringify(first) !== JSON.stringify(value);

/** Whether something on the page would be lost. */
export const isTyped = (): boolean => [...open.values()].some((one) => one.asks && isChanged(one));

/** Whether single sign-on may take the browser away, after the end of a session: what it has left would go, too. */
export const mayForget = (): boolean => kept.size === 0 || window.confirm("You leave this page to sign in: what you have typed is lost. Go on?");

/** Whether the page may be left: asks, where something would be lost. */
export function mayLeave(): boolean {
  if (!isTyped()) return true;
  if (!window.confirm("Leave this page? What you have typed is not saved.")) return false;
  open.clear();
  return true;
}

/** State of a form. `name` is unique on its page. */
export function useDraft<T>(name: string, first: T | (() => T), asks = true): [T, (next: T | ((before: T) => T)) => void] {
  const { path, url } = useLocation();
  const [{ key, begin }] = useState(() => ({ key: `${path} ${name}`, begin: first instanceof Function ? first() : first }));
  const [value, setValue] = useState<T>(() => (kept.has(key) ? (kept.get(key) as T) : begin));
  const shown = useRef<Open>({ first: begin, value, url, asks });
  Object.assign(shown.current, { value, url });
  useEffect(() => {
    kept.delete(key);
    open.set(key, shown.current);
    return () => {
      const isWanted = open.get(key) === shown.current && session.value === null && isChanged(shown.current);
      open.delete(key);
      if (isWanted) kept.set(key, shown.current.value);
    };
  }, [key]);
  return [value, setValue];
}

type Link = Pick<HTMLAnchorElement, "href" | "target" | "download" | "dataset">;

/** Whether a click on a link leaves the page: other choices on the same page do not. */
export function leadsAway(link: Link, click: Pick<MouseEvent, "button" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">, here: string): boolean {
  const isElsewhere = click.button !== 0 || click.ctrlKey || click.metaKey || click.altKey || click.shiftKey || !/^(_self)?$/.test(link.target);
  if (isElsewhere || link.download || link.dataset.takes !== undefined) return false;
  const [to, from] = [new URL(link.href), new URL(here)];
  return to.origin !== from.origin || to.pathname !== from.pathname;
}

function clicked(event: MouseEvent): void {
  const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement && one.href !== "");
  if (!link || !leadsAway(link as HTMLAnchorElement, event, location.href) || mayLeave()) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** The browser's Back has already changed the address. */
function wentBack(event: PopStateEvent): void {
  const url = [...open.values()].find((one) => one.asks)?.url;
  if (url === undefined || new URL(url, location.href).pathname === location.pathname || mayLeave()) return;
  event.stopImmediatePropagation();
  history.pushState(null, "", url);
}

/** Before the router hears of it. */
export function guardPages(): void {
  addEventListener("click", clicked, { capture: true });
  addEventListener("popstate", wentBack, { capture: true });
  addEventListener("beforeunload", (event) => {
    if (isTyped()) event.preventDefault();
  });
}
