// Requests in the words of the page, and where they are shown.
import type { Edit } from "../api/quota";
import { keyOf } from "../api/report";
import { placeOf, type QuotaRequest, type WantedQuota } from "../api/requests";
import type { DecidersAnswer, RequestEvent } from "../api/schema";
import { resourceTitle } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { format } from "../lib/units";
import { counted } from "../lib/words";

/** `partly_approved` is `Partly approved`. */
export function statusText(status: string): string {
  const text = status.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The address of the lists of a place. */
export const listPath = (at: Place, rest = ""): string => (at.domain ? pagePath(at, `/requests${rest}`) : `/ui/requests${rest}`);

export const requestPath = (one: QuotaRequest): string => listPath(placeOf(one), `/${one.id}`);

/** The form to ask for quotas; amounts that are known already are filled in. */
export function newRequestPath(at: Place, wanted: readonly (Omit<Edit, "amount"> & Partial<Edit>)[]): string {
  const ask = wanted.map((one) => (one.amount === undefined ? keyOf(one) : `${keyOf(one)}=${one.amount}`)).join(",");
  return listPath(at, ask ? `/new?ask=${encodeURIComponent(ask)}` : "/new");
}

/** What such an address asks for: amounts by `keyOf`, undefined where none was given. */
export function readAsk(text: string | undefined): Map<string, number | undefined> {
  const found = new Map<string, number | undefined>();
  for (const part of (text ?? "").split(",")) {
    const [key = "", amount = ""] = part.split("=");
    if (key.includes("/")) found.set(key, /^\d{1,15}$/.test(amount) ? Number(amount) : undefined);
  }
  return found;
}

/** `Virtual cores: 40 to 60`, and how much of it was granted. */
export function wantedText(one: WantedQuota): string {
  const { unit, present_quota: before, wanted_quota: wanted, granted_quota: granted } = one;
  const got = granted === undefined || granted === wanted ? "" : ` (${format(granted, unit)} granted)`;
  return `${resourceTitle(one.service, one.resource)}: ${format(before, unit)} to ${format(wanted, unit)}${got}`;
}

const LEVELS: Record<DecidersAnswer["level"], string> = { project: "on the project", domain: "on the domain", cluster: "in the cloud" };

/** `Anna, Bert and 3 others, with the role resource_admin on the domain`. Without names, there is the role. */
export function decidersText({ deciders, more, roles, level }: DecidersAnswer): string {
  const role = roles.length > 0 ? `the role ${roles.join(" or ")} ${LEVELS[level]}` : "";
  const names = deciders.map((one) => one.name || one.id);
  if (more > 0) names.push(counted(more, "other"));
  if (names.length === 0) return role ? `users with ${role}` : "those whom the policy allows it";
  const last = names.pop()!;
  return [names.length > 0 ? `${names.join(", ")} and ${last}` : last, role && `with ${role}`].filter(Boolean).join(", ");
}

const EVENTS: Record<RequestEvent["kind"], string> = {
  proposed: "proposed to ask for it",
  confirmed: "confirmed it",
  opened: "asked for it",
  comment: "wrote",
  passed_on: "passed it on to the cloud admins",
  returned: "gave it back",
  approved: "approved it",
  partly_approved: "approved a part of it",
  rejected: "rejected it",
  withdrawn: "withdrew it",
  superseded: "replaced it",
  expired: "let it expire",
};

export const eventText = (kind: RequestEvent["kind"]): string => EVENTS[kind] ?? statusText(kind).toLowerCase();
