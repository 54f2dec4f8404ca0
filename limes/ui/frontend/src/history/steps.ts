// A quota over time, as the steps of a line.
import type { QuotaChange as Change } from "../api/schema";

export interface Steps {
  /** UNIX seconds, ascending. */
  times: number[];
  amounts: (number | null)[];
}

/**
 * The steps of one resource's quota from its changes (the newest first), up to `now`.
 * The line begins at the oldest change, with what was there before.
 */
export function stepsOf(changes: Change[], present: number | undefined, now: number): Steps {
  const own = changes.filter((one) => one.what === "quota").reverse();
  const times: number[] = [];
  const amounts: (number | null)[] = [];
  const add = (time: number, amount: Change["new"]): void => {
    // several changes within a second: the last one counts, and the axis of time stays in order
    if (times.at(-1) === time) amounts[amounts.length - 1] = typeof amount === "number" ? amount : null;
    else {
      times.push(time);
      amounts.push(typeof amount === "number" ? amount : null);
    }
  };
  const first = own[0];
  if (first) add(first.at - Math.max(60, (now - first.at) * 0.05), first.old);
  for (const one of own) add(one.at, one.new);
  if (present !== undefined) add(Math.max(now, (times.at(-1) ?? now - 3600) + 1), present);
  return { times, amounts };
}
