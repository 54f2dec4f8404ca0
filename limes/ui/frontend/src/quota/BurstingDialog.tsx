// Switches a project's bursting on or off, after saying what that means.
import { request } from "../api/client";
import type { Project } from "../api/schema";
import { Commands } from "../commands/Commands";
import { switchingBursting } from "../commands/bursting";
import { Dialog } from "../components/Dialog";
import { notify } from "../lib/notices";
import type { Place } from "../lib/paths";
import { useSubmit } from "../lib/submit";

interface Props {
  at: Place;
  bursting: NonNullable<Project["bursting"]>;
  close: () => void;
  changed: () => void;
}

export function BurstingDialog({ at, bursting, close, changed }: Props) {
  const { isBusy, problem, run } = useSubmit();
  const isEnabled = !bursting.enabled;
  const change = switchingBursting(at, isEnabled);
  const share = `${Math.round(bursting.multiplier * 100)} %`;

  async function save(): Promise<void> {
    await request(change.request.path, { method: "PUT", body: change.request.body });
    notify(isEnabled ? "Bursting is on." : "Bursting is off.");
    close();
    changed();
  }

  return (
    <Dialog title={isEnabled ? "Allow bursting" : "Switch bursting off"} close={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void run(save);
        }}
      >
        <p>
          {isEnabled
            ? `The project may then use up to ${share} more than its quotas, as long as there is room.`
            : `The project may then use no more than its quotas. It can now use up to ${share} more.`}
        </p>
        <Commands of={change} />
        <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        <footer class="dialog-foot">
          <button class="primary" disabled={isBusy}>
            {isEnabled ? "Allow bursting" : "Switch bursting off"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
