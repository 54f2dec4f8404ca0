// What can be done with a project as a whole: refresh its figures, and bursting.
import type { Project } from "../api/schema";
import { ChangeDialog } from "../commands/ChangeDialog";
import { refreshing, switchingBursting } from "../commands/project";
import { useAddress } from "../lib/address";
import type { Place } from "../lib/paths";
import { useRights } from "../session/rights";

interface Props {
  at: Place;
  changed: () => void;
}

export function ProjectActions({ at, project: { bursting }, changed }: Props & { project: Project }) {
  const may = useRights(at)?.project;
  const [choices, change] = useAddress();
  const close = (): void => change({ do: undefined });
  return (
    <>
      {bursting && may?.set_bursting && (
        <button onClick={() => change({ do: "bursting" }, true)}>
          {bursting.enabled ? "Switch bursting off" : `Allow bursting (${inPercent(bursting)})`}
        </button>
      )}
      {bursting && may?.set_bursting && choices.do === "bursting" && (
        <BurstingDialog at={at} bursting={bursting} close={close} changed={changed} />
      )}
      {may?.sync && <button onClick={() => change({ do: "refresh" }, true)}>Refresh figures</button>}
      {may?.sync && choices.do === "refresh" && (
        <ChangeDialog
          title="Refresh figures"
          change={refreshing(at)}
          done="Limes is reading the backends; new figures appear in a few seconds."
          close={close}
          changed={changed}
        >
          Limes reads this project’s figures from all backends now, instead of when they are next due.
        </ChangeDialog>
      )}
    </>
  );
}

type Bursting = NonNullable<Project["bursting"]>;

const inPercent = ({ multiplier }: Bursting): string => `${Math.round(multiplier * 100)} %`;

function BurstingDialog({ at, bursting, close, changed }: Props & { bursting: Bursting; close: () => void }) {
  const isEnabled = !bursting.enabled;
  return (
    <ChangeDialog
      title={isEnabled ? "Allow bursting" : "Switch bursting off"}
      change={switchingBursting(at, isEnabled)}
      done={isEnabled ? "Bursting is on." : "Bursting is off."}
      close={close}
      changed={changed}
    >
      {isEnabled
        ? `The project may then use up to ${inPercent(bursting)} more than its quotas, as long as there is room.`
        : `The project may then use no more than its quotas. It can now use up to ${inPercent(bursting)} more.`}
    </ChangeDialog>
  );
}
