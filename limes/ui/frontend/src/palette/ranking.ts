// What is found for a text, the best first. Pure, and fast enough to run with each key at thousands of projects.

export type Kind = "page" | "resource" | "domain" | "project";

export interface Item {
  kind: Kind;
  title: string;
  /** Where it is, such as `in acme`. */
  hint: string;
  href: string;
  /** A UUID, by which it is found, too. */
  id?: string;
}

/** An item as it is compared: in lower case. */
export interface Indexed {
  item: Item;
  title: string;
  hint: string;
  id: string;
}

export interface Found {
  items: Item[];
  /** How many there are in all. */
  total: number;
}

/** Of equal matches, those come first of which there are few. */
const ORDER: Record<Kind, number> = { page: 0, resource: 1, domain: 2, project: 3 };
const SHORTEST_ID = 3;

export function indexOf(items: readonly Item[]): Indexed[] {
  return items.map((item) => ({ item, title: item.title.toLowerCase(), hint: item.hint.toLowerCase(), id: item.id?.toLowerCase() ?? "" }));
}

/** Whether a word of the title begins there: after a blank, a hyphen and the like. */
const beginsWord = (title: string, at: number): boolean => !/[\p{L}\p{N}]/u.test(title.charAt(at - 1));

/** The lower, the better; undefined where it does not match. */
function rankOf({ title, hint, id }: Indexed, text: string, words: readonly string[]): number | undefined {
  if (id !== "" && id === text) return 0;
  const at = title.indexOf(text);
  if (at === 0) return title.length === text.length ? 1 : 2;
  if (at > 0) return beginsWord(title, at) ? 3 : 4;
  if (text.length >= SHORTEST_ID) {
    const inId = id.indexOf(text);
    if (inId >= 0) return inId === 0 ? 5 : 6;
  }
  const isThere = words.length > 1 && words.every((word) => title.includes(word) || hint.includes(word));
  return isThere ? 7 : undefined;
}

export function search(index: readonly Indexed[], wanted: string, limit: number): Found {
  const text = wanted.trim().toLowerCase();
  const words = text.split(/\s+/);
  const matches: [number, Indexed][] = [];
  for (const one of index) {
    const rank = rankOf(one, text, words);
    if (rank !== undefined) matches.push([rank, one]);
  }
  matches.sort(([rank, one], [otherRank, other]) => rank - otherRank || compare(one, other));
  return { items: matches.slice(0, limit).map(([, one]) => one.item), total: matches.length };
}

function compare(one: Indexed, other: Indexed): number {
  const order = ORDER[one.item.kind] - ORDER[other.item.kind] || one.title.length - other.title.length;
  return order || (one.title < other.title ? -1 : one.title > other.title ? 1 : 0);
}
