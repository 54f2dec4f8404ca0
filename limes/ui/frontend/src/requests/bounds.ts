// How much of what is asked for could be set now, as the API explains it to those who decide.
import { get } from "../api/client";
import { keyOf } from "../api/report";
import { placeOf, type QuotaRequest, refOf } from "../api/requests";
import type { ExplanationsAnswer } from "../api/schema";
import { apiPath } from "../lib/paths";

export interface Room {
  /** The present quota. */
  now: number;
  /** The largest acceptable one; undefined where nothing bounds it. */
  most: number | undefined;
  /** What bounds it. */
  why: string;
}

/** By `keyOf`; without quotas that grow by themselves: a request raises their limit. */
export async function loadRoom(of: QuotaRequest, signal?: AbortSignal): Promise<Map<string, Room>> {
  const refs = of.resources.filter((one) => one.what === "quota").map(refOf);
  if (refs.length === 0) return new Map();
  const query = { service: [...new Set(refs.map((one) => one.service))], resource: [...new Set(refs.map((one) => one.name))] };
  const { explanations } = await get<ExplanationsAnswer>(apiPath(placeOf(of), "/explain"), { query, signal });
  return new Map(
    explanations.map(({ service, resource, quota, max_acceptable_quota: most }) => [
      keyOf({ service, name: resource }),
      { now: quota, most: most.rule === "amount" ? undefined : most.quota, why: most.message },
    ]),
  );
}
