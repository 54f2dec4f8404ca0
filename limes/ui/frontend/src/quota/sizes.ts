// What preset sizes put into fields.
import { keyOf } from "../api/report";
import type { QuotaSetShape } from "../api/schema";
import { formatExact } from "../lib/units";
import type { Typed } from "./edits";

/** The amounts of a set by `keyOf`, in the units of the resources. */
export function amountsOf(set: QuotaSetShape | undefined): Map<string, number> {
  const found = (set?.services ?? []).flatMap(({ type, resources }) =>
    resources.map((one): [string, number] => [keyOf({ service: type, name: one.name }), one.quota]),
  );
  return new Map(found);
}

export interface Field {
  key: string;
  unit: string;
  present: number;
}

/** The sets that say something about these fields. Of a single field, each with its amount. */
export function offered(sets: readonly QuotaSetShape[], fields: readonly Field[]): { value: string; title: string }[] {
  const only = fields.length === 1 ? fields[0] : undefined;
  return sets.flatMap((set) => {
    const amounts = amountsOf(set);
    if (!fields.some(({ key }) => amounts.has(key))) return [];
    return [{ value: set.name, title: only ? `${set.name}: ${formatExact(amounts.get(only.key) ?? 0, only.unit)}` : set.name }];
  });
}

/** The fields with the amounts of a size in them; others are empty. With `isMore` only amounts above the present ones. */
export function filledIn(fields: readonly Field[], amounts: ReadonlyMap<string, number>, isMore: boolean): Typed {
  return Object.fromEntries(
    fields.flatMap(({ key, unit, present }) => {
      const amount = amounts.get(key);
      const isWanted = amount !== undefined && (isMore ? amount > present : amount !== present);
      return isWanted ? [[key, formatExact(amount, unit)]] : [];
    }),
  );
}
