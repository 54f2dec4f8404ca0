// What can be done with a project as a whole: look again, and bursting.
import { useState } from "preact/hooks";
import { ApiError, request } from "../api/client";
import type { Project } from "../api/schema";
import { notify } from "../lib/notices";
import { apiPath, type Place } from "../lib/paths";
import { useRights } from "../session/rights";

export function ProjectActions({ at, project, changed }: { at: Place; project: Project; changed: () => void }) {
  const [isBusy, setIsBusy] = useState(false);
  const may = useRights(at)?.project;

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
  const burst = (enabled: boolean): Promise<unknown> =>
    request(apiPath(at), { method: "PUT", body: { project: { bursting: { enabled } } } });
  return (
    <>
      {bursting && may?.set_bursting && (
        <button disabled={isBusy} onClick={() => void run(() => burst(!bursting.enabled), "Bursting was switched.")}>
          {bursting.enabled ? "Switch bursting off" : `Allow bursting (${Math.round(bursting.multiplier * 100)} %)`}
        </button>
      )}
      {may?.sync && (
        <button disabled={isBusy} onClick={() => void run(look, "Limes is reading the backends; new figures appear in a few seconds.")}>
          Refresh figures
        </button>
      )}
    </>
  );
}
