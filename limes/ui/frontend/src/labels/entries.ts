// What is typed as labels of a project, and as a filter by them.
import type { Labels } from "../api/labels";

export interface Entry {
  key: string;
  value: string;
}

export const NO_ENTRY: Entry = { key: "", value: "" };
/** As many labels as a project can have. */
export const MOST = 20;

const KEY = /^[a-z0-9][a-z0-9_.-]{0,62}$/;
export const KEY_HINT = "up to 63 of a-z, 0-9, “_”, “.” and “-”, beginning with a letter or digit";

export const entriesOf = (labels: Labels): Entry[] => Object.entries(labels).map(([key, value]) => ({ key, value }));

const isEmpty = ({ key, value }: Entry): boolean => key.trim() === "" && value === "";

export interface Reading {
  labels: Labels;
  /** By the number of the entry. */
  problems: ReadonlyMap<number, string>;
}

/** Entries without key and value are none. Whatever else the API refuses, it says itself. */
export function readEntries(entries: readonly Entry[]): Reading {
  const labels: Labels = {};
  const problems = new Map<number, string>();
  entries.forEach((entry, index) => {
    if (isEmpty(entry)) return;
    const key = entry.key.trim();
    if (!KEY.test(key)) problems.set(index, `A key is ${KEY_HINT}.`);
    else if (Object.hasOwn(labels, key)) problems.set(index, "This key is there already.");
    else labels[key] = entry.value;
  });
  return { labels, problems };
}

const inOrder = (labels: Labels): string => JSON.stringify(Object.entries(labels).sort());

export const isSame = (one: Labels, other: Labels): boolean => inOrder(one) === inOrder(other);

/** How a list is filtered by a label. */
export const filterOf = (key: string, value: string): string => `${key}:${value}`;

/** What the API gets of a typed filter, such as `env` or `env:prod`; a problem for what is none. */
export function readFilter(text: string): { label?: string; problem?: string } {
  if (text.trim() === "") return {};
  const [key = "", ...value] = text.trim().split(":");
  return KEY.test(key) ? { label: [key, ...value].join(":") } : { problem: "Expected: key or key:value" };
}
