// Quotas: what they are, where they could be, and setting them.
import { apiPath, levelOf, type Place } from "../lib/paths";
import { ApiError, get, post, request } from "./client";
import { keyOf, loadReport, type Figures } from "./report";
import type { Explanation, ExplanationsAnswer, SimulationAnswer, UnacceptableResource } from "./schema";

export interface Ref {
  service: string;
  name: string;
}

export interface Edit extends Ref {
  amount: number;
}

/** A quota, and what bounds it for this user. */
export interface QuotaRow extends Ref {
  figures: Figures;
  quota: number;
  explanation: Explanation;
  /** Whether this user cannot change it at all. */
  isFixed: boolean;
}

export interface Quotas {
  name: string;
  etag: string | null;
  rows: QuotaRow[];
}

/** All quotas of a domain or project that users set, or only one. */
export async function loadQuotas(place: Place, only: Ref | undefined, signal?: AbortSignal): Promise<Quotas> {
  const query = only ? { service: only.service, resource: only.name } : {};
  const [report, { explanations }] = await Promise.all([
    loadReport(place, signal),
    get<ExplanationsAnswer>(apiPath(place, "/explain"), { query, signal }),
  ]);
  const figures = new Map(report.services.flatMap((one) => one.resources).map((one) => [keyOf(one), one]));
  const rows = explanations.flatMap((explanation) => {
    const ref = { service: explanation.service, name: explanation.resource };
    const found = figures.get(keyOf(ref));
    return found && !found.grows ? [{ ...ref, figures: found, quota: explanation.quota, explanation, isFixed: isFixed(explanation) }] : [];
  });
  return { name: report.name, etag: report.etag, rows };
}

function isFixed({ quota, min_acceptable_quota: min, max_acceptable_quota: max }: Explanation): boolean {
  return min.quota === quota && max.quota === quota && min.rule === "permission" && max.rule === "permission";
}

/** What PUT takes. With `until`, in UNIX seconds, the quotas go back by themselves. */
export function quotaBody(place: Place, edits: Edit[], until?: number): unknown {
  const services = [...new Set(edits.map((one) => one.service))].map((type) => ({
    type,
    resources: edits.filter((one) => one.service === type).map((one) => ({ name: one.name, quota: one.amount, until })),
  }));
  return { [levelOf(place)]: { services } };
}

// Proxies that compress make the tag a weak one, but it is that of quotas and not of bytes.
const ifMatch = (etag: string | null): Record<string, string> => (etag === null ? {} : { "If-Match": etag.replace(/^W\//, "") });

/** What the API says of wanted changes. */
export interface Simulated {
  /** By `keyOf`. */
  refused: Map<string, UnacceptableResource>;
  /** What one should know of changes that would be accepted. */
  warnings: string[];
}

export async function simulate(
  place: Place,
  edits: Edit[],
  until: number | undefined,
  etag: string | null,
  signal: AbortSignal,
): Promise<Simulated> {
  const { unacceptable_resources: refused = [], warnings = [] } = await ask(place, quotaBody(place, edits, until), etag, signal);
  return { refused: new Map(refused.map((one) => [keyOf({ service: one.service_type, name: one.resource_name }), one])), warnings };
}

/** The answer has the status that PUT would have, so a refusal looks like an error. */
async function ask(place: Place, body: unknown, etag: string | null, signal: AbortSignal): Promise<SimulationAnswer> {
  try {
    return await post(apiPath(place, "/simulate-put"), body, { headers: ifMatch(etag), signal });
  } catch (error) {
    if (error instanceof ApiError && error.document !== undefined) return error.document as SimulationAnswer;
    throw error;
  }
}

/** Sets quotas, all or none. Answers other texts of the API, such as that a backend does not have the quota yet. */
export async function saveQuotas(place: Place, edits: Edit[], until: number | undefined, etag: string | null): Promise<string> {
  const answer = await request<string>(apiPath(place), { method: "PUT", body: quotaBody(place, edits, until), headers: ifMatch(etag) });
  return answer.data.trim();
}
