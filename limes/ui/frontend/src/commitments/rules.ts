// What can be done with a commitment in its state. The API has the last word: what is offered here may still be refused.
import type { ProjectRights } from "../api/rights";
import type { Commitment } from "../api/schema";
import type { Place } from "../lib/paths";
import { formatDate } from "../lib/time";

/** What each form of the dialog of one commitment gets. */
export interface ActionProps {
  at: Place;
  commitment: Commitment;
  /** It has worked: what to tell, and (unless `stays`) the dialog closes. */
  done: (text: string, stays?: boolean) => void;
}

export interface Filter {
  resource: string;
  zone: string;
  status: string;
  text: string;
}

export const resourceOf = (one: Commitment): string => `${one.service_type}/${one.resource_name}`;

export function filtered(all: Commitment[], { resource, zone, status, text }: Filter): Commitment[] {
  const wanted = text.trim().toLowerCase();
  return all.filter(
    (one) =>
      (!resource || resourceOf(one) === resource) &&
      (!zone || one.availability_zone === zone) &&
      (!status || (status === "offered" ? one.transferable : one.status === status)) &&
      (!wanted ||
        [String(one.id), one.uuid, one.creator_name ?? "", resourceOf(one), one.duration].some((part) => part.toLowerCase().includes(wanted))),
  );
}

/** The values that occur, in their order. */
export function occurring(all: Commitment[], value: (one: Commitment) => string): string[] {
  return [...new Set(all.map(value))].sort();
}

export type Action = "transfer" | "withdraw" | "renew" | "auto-renew" | "let-end" | "duration" | "convert" | "delete";

export interface Possibility {
  action: Action;
  title: string;
  /** Why not, if not. */
  reason: string | undefined;
}

export const isLive = (one: Commitment): boolean => ["planned", "pending", "confirmed"].includes(one.status);

const NOT_CONFIRMED = "Only confirmed commitments can be transferred.";
const WAS_RENEWED = "It was renewed already.";
const IS_MARKED = "It is offered for transfer: withdraw that first.";

/** All that this user may do with it, or could do in another state. Empty for those who only look. */
export function possibilities(one: Commitment, rights: ProjectRights, now: number): Possibility[] {
  const found: Possibility[] = [];
  const add = (action: Action, title: string, reason?: string | false): void => {
    found.push({ action, title, reason: reason || undefined });
  };
  if (!isLive(one)) return [];
  const isConfirmed = one.status === "confirmed";
  const isMarked = one.transferable ?? false;
  if (rights.move_commitments) {
    add("transfer", isMarked ? "New transfer token" : "Transfer", !isConfirmed && NOT_CONFIRMED);
    if (isMarked) add("withdraw", "Withdraw the offer");
  }
  if (rights.change_commitments) {
    if (isConfirmed) add("renew", "Renew", isMarked ? IS_MARKED : notRenewable(one, now));
    if (one.auto_renew) add("let-end", "Stop renewing");
    else if (!wasRenewed(one)) add("auto-renew", "Renew automatically");
    add("duration", "Change duration", isMarked ? IS_MARKED : wasRenewed(one) && WAS_RENEWED);
    add("convert", "Convert", isMarked && IS_MARKED);
  }
  const mayTakeBack = rights.take_back_commitments && (one.deletable_until ?? 0) > now;
  if (mayTakeBack || rights.delete_commitments) {
    add("delete", "Delete", isConfirmed && !mayTakeBack && "Only unconfirmed commitments can be deleted.");
  }
  return found;
}

const wasRenewed = (one: Commitment): boolean => one.status === "confirmed" && one.renewable_from === undefined;

/** Why it cannot be renewed now. The API says from when it can; it says nothing of what was renewed already. */
function notRenewable({ renewable_from: opens }: Commitment, now: number): string | undefined {
  if (opens === undefined) return WAS_RENEWED;
  return opens > now ? `Possible from ${formatDate(opens)}.` : undefined;
}

/** Why these cannot be made one, or undefined if they can. */
export function mergeProblem(chosen: Commitment[]): string | undefined {
  if (chosen.length < 2) return "Choose at least two commitments.";
  if (chosen.some((one) => one.status !== "confirmed")) return "Only confirmed commitments can be merged.";
  if (chosen.some((one) => one.transferable)) return "Commitments that are offered for transfer cannot be merged.";
  const places = new Set(chosen.map((one) => `${one.service_type}/${one.resource_name}/${one.availability_zone}`));
  return places.size > 1 ? "Only commitments of the same resource and zone can be merged." : undefined;
}

/** What a part of a commitment becomes at a rate, or why not. */
export function converted(source: number, rate: { source_amount: number; target_amount: number }): number | undefined {
  return source % rate.source_amount === 0 ? (source / rate.source_amount) * rate.target_amount : undefined;
}
