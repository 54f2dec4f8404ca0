// Commitments: lists, plans, and each change that the API offers.
import { apiPath, type Place } from "../lib/paths";
import { readable } from "../lib/messages";
import { notify } from "../lib/notices";
import { get, post, request } from "./client";
import type {
  Commitment,
  CommitmentAnswer,
  CommitmentsAnswer,
  ConversionPart,
  ConversionRate,
  ConversionsAnswer,
  NewCommitment,
  PlanAnswer,
} from "./schema";

export type Wanted = Omit<NewCommitment, "confirm_by" | "auto_renew"> & { confirm_by?: number; auto_renew?: boolean };

const path = (at: Place, rest = ""): string => apiPath(at, `/commitments${rest}`);

/** The commitments of a project, including ended ones. */
export async function listCommitments(at: Place, signal?: AbortSignal): Promise<Commitment[]> {
  return (await get<CommitmentsAnswer>(path(at), { query: { history: "" }, signal })).commitments;
}

export async function listPublic(signal?: AbortSignal): Promise<Commitment[]> {
  return (await get<CommitmentsAnswer>("/v1/public-commitments", { signal })).commitments;
}

export async function canConfirm(at: Place, wanted: Wanted, signal?: AbortSignal): Promise<boolean> {
  return (await post<{ result: boolean }>(path(at, "/can-confirm"), { commitment: wanted }, { signal })).result;
}

/** When it could be confirmed, and what one should know before. */
export function makePlan(at: Place, wanted: Wanted, signal?: AbortSignal): Promise<PlanAnswer> {
  return post<PlanAnswer>(path(at, "/plan"), { commitment: wanted }, { signal });
}

/** The commitment of an answer. Other texts of the API are shown to the user. */
function commitmentOf({ commitment, warnings = [] }: CommitmentAnswer): Commitment {
  for (const text of warnings) notify(readable(text), "warning");
  return commitment;
}

/** Buys. The same key with the same wish makes one commitment only, however often it is sent. */
export async function buy(at: Place, wanted: Wanted, key: string): Promise<Commitment> {
  const headers = { "Idempotency-Key": key };
  return commitmentOf(await post<CommitmentAnswer>(path(at, "/new"), { commitment: wanted }, { headers }));
}

async function change(at: Place, rest: string, body?: unknown): Promise<Commitment> {
  return commitmentOf(await post<CommitmentAnswer>(path(at, rest), body));
}

export type Publicity = "unlisted" | "public";

/** Marks a commitment, or a part of it, for transfer; an empty status withdraws the mark. */
export const startTransfer = (at: Place, id: number, amount: number, status: Publicity | ""): Promise<Commitment> =>
  change(at, `/${id}/start-transfer`, { commitment: { amount, transfer_status: status } });

export const renew = (at: Place, id: number): Promise<Commitment> => change(at, `/${id}/renew`);

/** Says whether it is renewed before its end. */
export async function setAutoRenewal(at: Place, id: number, isOn: boolean): Promise<void> {
  await request(path(at, `/${id}`), { method: "PUT", body: { commitment: { auto_renew: isOn } } });
}

export const changeDuration = (at: Place, id: number, duration: string): Promise<Commitment> =>
  change(at, `/${id}/update-duration`, { duration });

export const merge = (at: Place, ids: number[]): Promise<Commitment> => change(at, "/merge", { commitment_ids: ids });

export const convert = (at: Place, id: number, part: ConversionPart): Promise<Commitment> =>
  change(at, `/${id}/convert`, { commitment: part });

export async function conversionRates(service: string, resource: string, signal?: AbortSignal): Promise<ConversionRate[]> {
  const from = [service, resource].map(encodeURIComponent).join("/");
  return (await get<ConversionsAnswer>(`/v1/commitment-conversion/${from}`, { signal })).conversions;
}

export async function remove(at: Place, id: number): Promise<void> {
  await request(path(at, `/${id}`), { method: "DELETE" });
}

const tokenHeader = (token: string): Record<string, string> => ({ "Transfer-Token": token });

/** What a transfer token is for. */
export async function findByToken(token: string, signal?: AbortSignal): Promise<Commitment> {
  return (await get<CommitmentAnswer>("/v1/commitments/by-token", { headers: tokenHeader(token), signal })).commitment;
}

/** Moves a commitment into the project. The token goes into a header: addresses end up in logs. */
export async function accept(at: Place, id: number, token: string): Promise<Commitment> {
  const to = apiPath(at, `/transfer-commitment/${id}`);
  return commitmentOf(await post<CommitmentAnswer>(to, undefined, { headers: tokenHeader(token) }));
}
