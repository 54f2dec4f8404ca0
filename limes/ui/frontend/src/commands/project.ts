// Changes of a project as a whole as commands.
import { apiPath, type Place } from "../lib/paths";
import type { Change } from "./change";

const ofProject = (at: Place): string[] => [at.project ?? "", "--domain", at.domain ?? ""];

export function switchingBursting(at: Place, isEnabled: boolean): Change {
  return {
    client: [
      ["project", "set", ...ofProject(at)],
      [isEnabled ? "--enable-bursting" : "--disable-bursting", "--yes"],
    ],
    request: { method: "PUT", path: apiPath(at), body: { project: { bursting: { enabled: isEnabled } } } },
  };
}

export function refreshing(at: Place): Change {
  return { client: [["project", "sync", ...ofProject(at)]], request: { method: "POST", path: apiPath(at, "/sync") } };
}
