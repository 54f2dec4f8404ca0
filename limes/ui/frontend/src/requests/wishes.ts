// What can be asked for at a place, and what the user has typed.
import type { Edit } from "../api/quota";
import { type Figures, keyOf, type Report } from "../api/report";
import { limitOf } from "../growth/bounds";
import { format, parse } from "../lib/units";
import { temporaryOf } from "../quota/temporary";

export interface Wish {
  figures: Figures;
  /** The quota that there is, or how far it grows by itself. Of a quota for a time, the one after it: a request is about that. */
  present: number;
}

/**
 * Resources without quota cannot be asked for. Where quota grows by itself, a project asks for a higher limit; without a
 * limit, for more than it has now; a domain has nothing of its own to ask for.
 */
export function wishesOf(report: Report): Wish[] {
  return report.services
    .flatMap((one) => one.resources)
    .flatMap((figures) => {
      const present = limitOf(figures) ?? temporaryOf(figures)?.quota_before ?? figures.limit;
      const isForProjects = figures.grows && report.level !== "project";
      return present === undefined || isForProjects ? [] : [{ figures, present }];
    });
}

export interface Reading {
  edits: Edit[];
  /** What cannot be read or asked for, by `keyOf`. */
  problems: Map<string, string>;
}

export function readWishes(wishes: readonly Wish[], typed: Readonly<Record<string, string>>): Reading {
  const edits: Edit[] = [];
  const problems = new Map<string, string>();
  for (const { figures, present } of wishes) {
    const key = keyOf(figures);
    const text = typed[key]?.trim() ?? "";
    if (text === "") continue;
    const { amount, problem } = parse(text, figures.unit, present);
    if (amount === undefined) problems.set(key, problem);
    else if (amount <= present) problems.set(key, `Not more than the present ${format(present, figures.unit)}`);
    else edits.push({ service: figures.service, name: figures.name, amount });
  }
  return { edits, problems };
}
