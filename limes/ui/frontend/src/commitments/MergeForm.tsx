// Makes one commitment of several.
import { merge } from "../api/commitments";
import { Commands } from "../commands/Commands";
import { merging } from "../commands/commitments";
import type { Commitment } from "../api/schema";
import type { Place } from "../lib/paths";
import { useSubmit } from "../lib/submit";
import { formatDate } from "../lib/time";
import { mergeProblem } from "./rules";
import { inFull, whatOf } from "./wording";

interface Props {
  at: Place;
  chosen: Commitment[];
  done: (text: string) => void;
}

export function MergeForm({ at, chosen, done }: Props) {
  const { isBusy, problem, run } = useSubmit();
  const reason = mergeProblem(chosen);
  const first = chosen[0];
  if (reason || !first) return <p>{reason}</p>;
  const total = chosen.reduce((sum, one) => sum + one.amount, 0);
  const end = Math.max(...chosen.map((one) => one.expires_at));

  async function save(): Promise<void> {
    const merged = await merge(at, chosen.map((one) => one.id));
    done(`Merged: ${inFull(merged)}.`);
  }

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void run(save);
      }}
    >
      <ul class="bullets">
        {chosen.map((one) => (
          <li key={one.id}>{inFull(one)}</li>
        ))}
      </ul>
      <p>
        They become one commitment of <strong>{whatOf({ ...first, amount: total })}</strong>, which ends with the last of them, on{" "}
        {formatDate(end)}.
      </p>
      <Commands of={merging(at, chosen)} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <footer class="dialog-foot">
        <button class="primary" disabled={isBusy}>
          Merge {chosen.length} commitments
        </button>
      </footer>
    </form>
  );
}
