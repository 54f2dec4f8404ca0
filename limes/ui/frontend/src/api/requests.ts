// Requests for more quota: lists of them, one with its conversation, asking and deciding.
import { remember } from "../lib/names";
import { apiPath, type Place } from "../lib/paths";
import { get, post } from "./client";
import type { Edit } from "./quota";
import type { DecidersAnswer, QuotaRequest, QuotaRequestAnswer, QuotaRequestsAnswer, QuotaRequestWithConversation, WantedQuota } from "./schema";

export type { QuotaRequest, QuotaRequestWithConversation, WantedQuota } from "./schema";

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Where the API has them. Those of the cloud are not below its own address. */
export const requestsPath = (at: Place, rest = ""): string => (at.domain ? apiPath(at, `/quota-requests${rest}`) : `/v1/quota-requests${rest}`);

/** Whose request it is. */
export const placeOf = ({ domain, project }: QuotaRequest): Place => ({ domain: domain.id, project: project?.id });

/** The newest ones, or those before the one of a number. */
export async function loadRequests(at: Place, query: Query, limit: number, marker?: number, signal?: AbortSignal): Promise<QuotaRequestsAnswer> {
  const answer = await get<QuotaRequestsAnswer>(requestsPath(at), { query: { ...query, limit, marker }, signal });
  remember(answer.quota_requests.flatMap(namedIn));
  return answer;
}

const namedIn = ({ domain, project }: QuotaRequest): { id: string; name: string }[] => (project ? [domain, project] : [domain]);

export async function countRequests(at: Place, query: Query): Promise<number> {
  return (await loadRequests(at, query, 1)).total;
}

/** With its whole conversation. The API answers the latest part first. */
export async function loadRequest(at: Place, id: string, signal?: AbortSignal): Promise<QuotaRequestWithConversation> {
  let page = await get<QuotaRequestAnswer>(requestsPath(at, `/${encodeURIComponent(id)}`), { signal });
  const request = page.quota_request;
  const { conversation } = request;
  for (let link = page.conversation_links?.[0]; link; link = page.conversation_links?.[0]) {
    page = await get<QuotaRequestAnswer>(link.href, { signal });
    conversation.unshift(...page.quota_request.conversation);
  }
  remember(namedIn(request));
  return request;
}

/** Who can decide on a request, or without its number on all of the domain or project. */
export function loadDeciders(at: Place, id?: number, signal?: AbortSignal): Promise<DecidersAnswer> {
  return get<DecidersAnswer>(apiPath(at, id === undefined ? "/deciders" : `/quota-requests/${id}/deciders`), { signal });
}

/** Services with their quotas, as the API takes them. */
function servicesOf(edits: readonly Edit[]): unknown[] {
  return [...new Set(edits.map((one) => one.service))].map((type) => ({
    type,
    resources: edits.filter((one) => one.service === type).map((one) => ({ name: one.name, quota: one.amount })),
  }));
}

/** Without `until` (in seconds since the epoch) it is permanent. */
export function newRequestBody(edits: readonly Edit[], reason: string, until?: number): unknown {
  return { quota_request: { reason, services: servicesOf(edits), ...(until === undefined ? {} : { until }) } };
}

/** A step of a request, and what the API takes for it. */
export type Step =
  | { verb: "approve"; comment: string; lowered: readonly Edit[] }
  | { verb: "reject"; reason: string }
  | { verb: "confirm" | "withdraw" | "pass-on"; comment: string }
  | { verb: "comments"; comment: string };

export function stepBody(step: Step): unknown {
  if (step.verb === "reject") return { reason: step.reason };
  if (step.verb === "approve") return { comment: step.comment, ...(step.lowered.length > 0 ? { services: servicesOf(step.lowered) } : {}) };
  return { comment: step.comment };
}

export const stepPath = (at: Place, id: number, step: Step): string => requestsPath(at, `/${id}/${step.verb}`);

export function ask(at: Place, edits: readonly Edit[], reason: string, until?: number): Promise<QuotaRequestAnswer> {
  return post<QuotaRequestAnswer>(requestsPath(at), newRequestBody(edits, reason, until));
}

/** Answers the request, or for `pass-on` the domain's one that it became. */
export function take(at: Place, id: number, step: Step): Promise<QuotaRequestAnswer> {
  return post<QuotaRequestAnswer>(stepPath(at, id, step), stepBody(step));
}

export const refOf = ({ service, resource }: WantedQuota): { service: string; name: string } => ({ service, name: resource });
