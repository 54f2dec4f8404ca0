// What people are told, in the words of the page.
import type { InboxItem } from "../api/schema";
import { listPath } from "../requests/words";
import { counted } from "../lib/words";

const DECISIONS: Record<InboxItem["kind"], string> = {
  confirmed: "was confirmed, and waits for a decision",
  approved: "was approved",
  partly_approved: "was approved in part",
  rejected: "was rejected",
  expired: "has expired",
  passed_on: "was passed on to the cloud admins",
  returned: "was given back by the cloud admins, and is open",
  withdrawn: "was withdrawn",
  superseded: "was replaced",
  comment: "was commented on",
};

/** `Request 12 of project shop was approved`. */
export function itemText({ kind, quota_request: id, project, domain }: InboxItem): string {
  const place = project ? `project ${project.name}` : `domain ${domain.name}`;
  return `Request ${id} of ${place} ${DECISIONS[kind] ?? kind.replaceAll("_", " ")}`;
}

/** The page of the request. */
export const itemPath = ({ quota_request: id, project, domain }: InboxItem): string => listPath({ domain: domain.id, project: project?.id }, `/${id}`);

const KINDS: Record<string, string> = {
  backend_unreachable: "A backend cannot be reached",
  capacity_drop: "A capacitor reports much less capacity",
  usage_above_quota: "More is used than the quota",
  quota_used: "A quota is nearly used up",
  own_threshold: "Your own threshold is exceeded",
  auto_renewal_failed: "A commitment could not renew itself",
  commitment_unconfirmed: "A commitment is not confirmed in time",
  commitment_expires: "A commitment ends soon",
  commitment_confirmed: "A commitment was confirmed",
  commitment_renewed: "A commitment was renewed",
  temporary_quota_over: "Quota for a time could not be given back",
  temporary_quota_waits: "A planned raise of quota waits",
  temporary_quota_ends: "Quota for a time ends soon",
  temporary_quota_ended: "Quota for a time has ended",
  request_proposed: "A member of the project proposes a request",
  request_confirmed: "Your proposal was confirmed",
  request_opened: "Somebody asks for more quota",
  request_decided: "Your request was decided on",
  request_passed_on: "Your request was passed on",
  request_waiting: "A request waits for a decision",
};

/** Kinds that a newer API has are named as they are. */
export const kindText = (kind: string): string => KINDS[kind] ?? kind.replaceAll("_", " ");

/** For the bell. Alerts are undefined for those who do not see any. */
export function bellText(unread: number, alerts: { critical: number; warning: number } | undefined): string {
  const total = alerts ? alerts.critical + alerts.warning : 0;
  const news = unread > 0 && counted(unread, "unread decision");
  const critical = alerts && alerts.critical > 0 ? `, ${alerts.critical.toLocaleString("en")} critical` : "";
  const all = [news, total > 0 && counted(total, "alert") + critical].filter(Boolean).join("; ");
  return all || (alerts ? "No alerts" : "Nothing new");
}

/** A percentage as it is typed: undefined if it is none. */
export function readPercent(text: string): number | undefined {
  return /^(100|[1-9][0-9]?)$/.test(text.trim()) ? Number(text) : undefined;
}
