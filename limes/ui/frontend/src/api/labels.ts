// Labels of projects.
import { apiPath, type Place } from "../lib/paths";
import { get, request } from "./client";
import type { LabelsAnswer, LabelsBody } from "./schema";

export type Labels = LabelsAnswer["labels"];

export const labelsPath = (at: Place): string => apiPath(at, "/labels");

export const labelsBody = (labels: Labels): LabelsBody => ({ labels });

export async function loadLabels(at: Place, signal?: AbortSignal): Promise<Labels> {
  return (await get<LabelsAnswer>(labelsPath(at), { signal })).labels;
}

/** Replaces all of them. */
export async function saveLabels(at: Place, labels: Labels): Promise<void> {
  await request<LabelsAnswer>(labelsPath(at), { method: "PUT", body: labelsBody(labels) });
}
