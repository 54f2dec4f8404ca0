// Requests for more quota as commands.
import type { Edit } from "../api/quota";
import { newRequestBody, requestsPath, type Step, stepBody, stepPath } from "../api/requests";
import { isoTime } from "../lib/csv";
import type { Place } from "../lib/paths";
import { amountWord, type Change, ofProject } from "./change";

type UnitOf = (edit: Edit) => string;

const sets = (edits: readonly Edit[], unitOf: UnitOf): string[][] => edits.map((one) => ["--set", `${one.service}/${one.name}=${amountWord(one.amount, unitOf(one))}`]);

export function asking(at: Place, edits: readonly Edit[], reason: string, unitOf: UnitOf, until?: number): Change {
  return {
    client: [
      ["request", "create"],
      ...(at.project ? ofProject(at) : [["--of-domain", "--domain", at.domain ?? ""]]),
      ...sets(edits, unitOf),
      ["--reason", reason],
      ...(until === undefined ? [] : [["--until", String(isoTime(until))]]),
    ],
    request: { method: "POST", path: requestsPath(at), body: newRequestBody(edits, reason, until) },
  };
}

export function stepping(at: Place, id: number, step: Step, unitOf: UnitOf): Change {
  return { client: [wordsOf(id, step), ...detailsOf(step, unitOf)], request: { method: "POST", path: stepPath(at, id, step), body: stepBody(step) } };
}

function wordsOf(id: number, step: Step): string[] {
  return step.verb === "comments" ? ["request", "comment", String(id), step.comment] : ["request", step.verb, String(id)];
}

function detailsOf(step: Step, unitOf: UnitOf): string[][] {
  if (step.verb === "comments") return [];
  if (step.verb === "reject") return [["--reason", step.reason]];
  const lowered = step.verb === "approve" ? sets(step.lowered, unitOf) : [];
  return [...lowered, ...(step.comment ? [["--comment", step.comment]] : [])];
}
