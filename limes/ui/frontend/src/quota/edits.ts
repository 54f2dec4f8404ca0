// What has been typed into the fields of quotas, read and compared with the present quotas.
import { keyOf } from "../api/report";
import type { Edit, QuotaRow } from "../api/quota";
import { parse } from "../lib/units";

export type Typed = Readonly<Record<string, string>>;

export interface Reading {
  edits: Edit[];
  /** What cannot be read, by `keyOf`. */
  problems: Map<string, string>;
}

/** The changes that the texts ask for. A text that gives the present quota is no change. */
export function read(rows: QuotaRow[], typed: Typed): Reading {
  const edits: Edit[] = [];
  const problems = new Map<string, string>();
  for (const row of rows) {
    const text = typed[keyOf(row)];
    if (text === undefined || text.trim() === "") continue;
    const parsed = parse(text, row.figures.unit, row.quota);
    if (parsed.amount === undefined) problems.set(keyOf(row), parsed.problem);
    else if (parsed.amount !== row.quota) edits.push({ service: row.service, name: row.name, amount: parsed.amount });
  }
  return { edits, problems };
}
