// The live simulation: whatever is typed is put to the API, which says what it would refuse.
import { useEffect, useState } from "preact/hooks";
import { simulate, type Edit } from "../api/quota";
import type { UnacceptableResource } from "../api/schema";
import { useDebounced } from "../lib/load";
import type { Place } from "../lib/paths";

export interface Verdict {
  /** By `keyOf`; undefined until the API has spoken on exactly these changes. */
  refused: Map<string, UnacceptableResource> | undefined;
  warnings: string[];
  error: Error | undefined;
}

const NOTHING: Verdict = { refused: undefined, warnings: [], error: undefined };

export function useSimulation(place: Place, edits: Edit[], until: number | undefined, etag: string | null): Verdict {
  const wanted = JSON.stringify([place, edits, etag, until]);
  const settled = useDebounced(wanted);
  const [verdict, setVerdict] = useState<Verdict & { on: string }>({ on: "", ...NOTHING });

  useEffect(() => {
    const [at, changes, tag, end] = JSON.parse(settled) as [Place, Edit[], string | null, number | null];
    if (changes.length === 0) return;
    const controller = new AbortController();
    simulate(at, changes, end ?? undefined, tag, controller.signal).then(
      (simulated) => setVerdict({ on: settled, ...simulated, error: undefined }),
      (error: Error) => {
        if (!controller.signal.aborted) setVerdict({ on: settled, ...NOTHING, error });
      },
    );
    return () => controller.abort();
  }, [settled]);

  return verdict.on === wanted ? verdict : NOTHING;
}
