// Lets a commitment last longer.
import { useState } from "preact/hooks";
import { changeDuration } from "../api/commitments";
import { Commands } from "../commands/Commands";
import { changingDuration } from "../commands/commitments";
import { Select } from "../components/Select";
import { useSubmit } from "../lib/submit";
import type { ActionProps } from "./rules";
import { inFull } from "./wording";

export function DurationForm({ at, commitment, done, durations }: ActionProps & { durations: string[] }) {
  const others = durations.filter((one) => one !== commitment.duration);
  const [duration, setDuration] = useState(others[0] ?? "");
  const { isBusy, problem, run } = useSubmit();
  if (others.length === 0) return <p class="part">There is no other duration for this resource.</p>;

  async function save(): Promise<void> {
    const changed = await changeDuration(at, commitment.id, duration);
    done(`Changed: ${inFull(changed)}.`);
  }

  return (
    <form
      class="stack part"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void run(save);
      }}
    >
      <Select
        label="New duration"
        value={duration}
        options={others.map((value) => ({ value, title: value }))}
        choose={setDuration}
      />
      <p class="hint">It is counted from the same start. A commitment may end later, not earlier.</p>
      <Commands of={changingDuration(at, commitment, duration)} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <footer class="dialog-foot">
        <button class="primary" disabled={isBusy}>
          Change duration
        </button>
      </footer>
    </form>
  );
}
