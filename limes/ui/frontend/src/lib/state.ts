// How full something is: the same four states everywhere.

export type State = "ok" | "high" | "critical" | "over";

const HIGH = 0.8;
const CRITICAL = 0.95;

/** More than any share that there is, and a number to sort by. */
const EVERYTHING = 1e9;

/** How much of `limit` is used. Anything is more than a limit of zero. */
export function shareOf(usage: number, limit: number | undefined): number {
  if (limit === undefined || usage <= 0) return 0;
  return limit > 0 ? Math.min(usage / limit, EVERYTHING) : EVERYTHING;
}

export function stateOf(usage: number, limit: number | undefined): State {
  const share = shareOf(usage, limit);
  if (share > 1) return "over";
  return share > CRITICAL ? "critical" : share > HIGH ? "high" : "ok";
}

/** In words; `limitName` is capacity or quota. */
export function stateText(state: State, limitName: string): string {
  return { ok: "", high: "above 80 %", critical: "above 95 %", over: `above ${limitName}` }[state];
}

const ORDER: readonly State[] = ["ok", "high", "critical", "over"];

/** The most urgent of several. */
export function worst(states: readonly State[]): State {
  return ORDER[Math.max(0, ...states.map((one) => ORDER.indexOf(one)))]!;
}
