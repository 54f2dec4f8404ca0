// Switching a project's bursting as a command.
import { apiPath, type Place } from "../lib/paths";
import type { Change } from "./change";

export function switchingBursting(at: Place, isEnabled: boolean): Change {
  return {
    client: [
      ["project", "set", at.project ?? "", "--domain", at.domain ?? ""],
      [isEnabled ? "--enable-bursting" : "--disable-bursting", "--yes"],
    ],
    request: { method: "PUT", path: apiPath(at), body: { project: { bursting: { enabled: isEnabled } } } },
  };
}
