// Changes of quotas as commands.
import { type Edit, quotaBody } from "../api/quota";
import { isoTime } from "../lib/csv";
import { apiPath, levelOf, type Place } from "../lib/paths";
import { amountWord, type Change } from "./change";

/** `unitOf` knows the units of the resources. The request has no `If-Match`: a script would send one of long ago. */
export function settingQuotas(at: Place, edits: Edit[], unitOf: (edit: Edit) => string, until?: number): Change {
  const isProject = levelOf(at) === "project";
  return {
    client: [
      isProject ? ["project", "set", at.project ?? "", "--domain", at.domain ?? ""] : ["domain", "set", at.domain ?? ""],
      ...edits.map((one) => ["--set", `${one.service}/${one.name}=${amountWord(one.amount, unitOf(one))}`]),
      ...(until === undefined ? [] : [["--until", String(isoTime(until))]]),
      ["--yes"],
    ],
    request: { method: "PUT", path: apiPath(at), body: quotaBody(at, edits, until) },
  };
}
