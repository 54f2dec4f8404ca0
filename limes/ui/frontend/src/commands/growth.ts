// Bounds of quota that grows by itself as commands.
import { type Bound, boundBody, boundPath } from "../api/growth";
import type { Ref } from "../api/quota";
import { levelOf, type Place } from "../lib/paths";
import { amountWord, type Change } from "./change";

export function boundingGrowth(at: Place, ref: Ref, bound: Bound, unit: string): Change {
  const name = `${ref.service}/${ref.name}`;
  return {
    client: [
      levelOf(at) === "project" ? ["project", "set", at.project ?? "", "--domain", at.domain ?? ""] : ["domain", "set", at.domain ?? ""],
      [...option(name, bound, unit), "--yes"],
    ],
    request: { method: "PUT", path: boundPath(at, bound), body: boundBody(at, ref, bound) },
  };
}

function option(name: string, bound: Bound, unit: string): string[] {
  if ("forbid_autogrowth" in bound) return [bound.forbid_autogrowth ? "--forbid-autogrowth" : "--allow-autogrowth", name];
  return ["--max-quota", `${name}=${bound.max_quota === null ? "none" : amountWord(bound.max_quota, unit)}`];
}
