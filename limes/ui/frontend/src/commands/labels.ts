// Labels of a project as commands.
import { type Labels, labelsBody, labelsPath } from "../api/labels";
import type { Place } from "../lib/paths";
import type { Change } from "./change";

export function settingLabels(at: Place, labels: Labels): Change {
  const words = Object.entries(labels).map(([key, value]) => ["--label", `${key}=${value}`]);
  return {
    client: [["project", "label", "set", at.project ?? "", "--domain", at.domain ?? ""], ...(words.length ? words : [["--clear"]])],
    request: { method: "PUT", path: labelsPath(at), body: labelsBody(labels) },
  };
}
