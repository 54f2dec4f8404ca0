// The API's verdict on a wanted commitment, asked for as one types.
import { useEffect, useState } from "preact/hooks";
import { canConfirm, makePlan, type Wanted } from "../api/commitments";
import type { Plan } from "../api/schema";
import { useDebounced } from "../lib/load";
import type { Place } from "../lib/paths";
import { readable } from "../lib/messages";
import { inWords } from "../lib/submit";

/** `isPossible`: whether it is confirmed at once; undefined for what is to be confirmed later. `warnings` are what one
 * should know before. */
export type Verdict =
  | { state: "none" }
  | { state: "checking" }
  | { state: "refused"; message: string }
  | { state: "answered"; isPossible: boolean | undefined; plan: Plan; warnings: string[] };

async function ask(at: Place, wanted: Wanted, signal: AbortSignal): Promise<Verdict> {
  const [isPossible, { plan, warnings = [] }] = await Promise.all([
    wanted.confirm_by === undefined ? canConfirm(at, wanted, signal) : undefined,
    makePlan(at, wanted, signal),
  ]);
  return { state: "answered", isPossible, plan, warnings: warnings.map(readable) };
}

export function useVerdict(at: Place, wanted: Wanted | undefined): Verdict {
  const question = JSON.stringify([at, wanted ?? null]);
  const settled = useDebounced(question);
  const [answer, setAnswer] = useState<{ on: string; verdict: Verdict }>({ on: "", verdict: { state: "none" } });

  useEffect(() => {
    const [place, purchase] = JSON.parse(settled) as [Place, Wanted | null];
    if (!purchase) return;
    const controller = new AbortController();
    ask(place, purchase, controller.signal).then(
      (verdict) => setAnswer({ on: settled, verdict }),
      (error: Error) => {
        if (!controller.signal.aborted) setAnswer({ on: settled, verdict: { state: "refused", message: inWords(error) } });
      },
    );
    return () => controller.abort();
  }, [settled]);

  if (!wanted) return { state: "none" };
  return answer.on === question ? answer.verdict : { state: "checking" };
}
