// What can be done with a project as a whole: look again, and bursting.
import { useState } from "preact/hooks";
import { ApiError, request } from "../api/client";
import type { Project } from "../api/schema";
import { useAddress } from "../lib/address";
import { notify } from "../lib/notices";
import { apiPath, type Place } from "../lib/paths";
import { BurstingDialog } from "../quota/BurstingDialog";
import { useRights } from "../session/rights";

export function ProjectActions({ at, project, changed }: { at: Place; project: Project; changed: () => void }) {
  const [isBusy, setIsBusy] = useState(false);
  const may = useRights(at)?.project;
  const [choices, change] = useAddress();

  async function run(work: () => Promise<unknown>, done: string): Promise<void> {
    setIsBusy(true);
    try {
      await work();
      notify(done);
      changed();
    } catch (error) {
      const isForbidden = error instanceof ApiError && error.status === 403;
      notify(isForbidden ? "Your role on this project does not allow that." : (error as Error).message, "warning");
    } finally {
      setIsBusy(false);
    }
  }

  const { bursting } = project;
  const look = (): Promise<unknown> => request(apiPath(at, "/sync"), { method: "POST" });
  return (
    <>
      {bursting && may?.set_bursting && (
        <button disabled={isBusy} onClick={() => change({ do: "bursting" }, true)}>
          {bursting.enabled ? "Switch bursting off" : `Allow bursting (${Math.round(bursting.multiplier * 100)} %)`}
        </button>
      )}
      {bursting && may?.set_bursting && choices.do === "bursting" && (
        <BurstingDialog at={at} bursting={bursting} close={() => change({ do: undefined })} changed={changed} />
      )}
      {may?.sync && (
        <button disabled={isBusy} onClick={() => void run(look, "Limes is reading the backends; new figures appear in a few seconds.")}>
          Refresh figures
        </button>
      )}
    </>
  );
}
