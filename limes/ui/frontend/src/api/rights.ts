// What this user may do, as the API says it.
import type { Place } from "../lib/paths";
import { get } from "./client";
import type { Rights, RightsAnswer } from "./schema";

export type { Rights } from "./schema";
export type ProjectRights = Rights["project"];

/** With a place of no project (or no domain), what it says of projects (and domains) is true of each of them. */
export async function loadRights({ domain, project }: Place): Promise<Rights> {
  return (await get<RightsAnswer>("/v1/rights", { query: { domain_id: domain, project_id: domain && project } })).rights;
}
