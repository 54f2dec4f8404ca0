// Makes one commitment of several.
import { merge } from "../api/commitments";
import type { Commitment } from "../api/schema";
import { zoneName } from "../lib/names";
import type { Place } from "../lib/paths";
import { useSubmit } from "../lib/submit";
import { formatDate } from "../lib/time";
import { format } from "../lib/units";
import { mergeProblem, resourceOf } from "./rules";

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
    done(`Commitment ${merged.id} of ${format(merged.amount, merged.unit)} was made of ${chosen.length}.`);
  }

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void run(save);
      }}
    >
      <p>
        Commitments {chosen.map((one) => one.id).join(", ")} become one of{" "}
        <strong>
          {format(total, first.unit)} {resourceOf(first)}
        </strong>{" "}
        in {zoneName(first.availability_zone)}, which ends with the last of them, on {formatDate(end)}.
      </p>
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <footer class="dialog-foot">
        <button class="primary" disabled={isBusy}>
          Merge {chosen.length} commitments
        </button>
      </footer>
    </form>
  );
}
