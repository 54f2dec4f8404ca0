// Quota that grows by itself: how far it may grow.
import { apiPath, levelOf, type Place } from "../lib/paths";
import { request } from "./client";
import type { Ref } from "./quota";

/** `max_quota`: null takes the limit away. */
export type Bound = { max_quota: number | null } | { forbid_autogrowth: boolean };

export const boundPath = (at: Place, bound: Bound): string => apiPath(at, "max_quota" in bound ? "/max-quota" : "/forbid-autogrowth");

export function boundBody(at: Place, ref: Ref, bound: Bound): unknown {
  return { [levelOf(at)]: { services: [{ type: ref.service, resources: [{ name: ref.name, ...bound }] }] } };
}

/** Sets a bound of a project, or of all projects of a domain. Answers what the API says besides. */
export async function saveBound(at: Place, ref: Ref, bound: Bound): Promise<string> {
  const answer = await request<string>(boundPath(at, bound), { method: "PUT", body: boundBody(at, ref, bound) });
  return answer.data.trim();
}
