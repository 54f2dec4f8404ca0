// Alerts in the words of the page, and where one does something about them.
import type { Alert } from "../api/schema";
import { resourceTitle, zoneName } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import type { State } from "../lib/state";
import { formatDate, formatTime, relative } from "../lib/time";
import { format, percent } from "../lib/units";
import { temporaryText } from "../quota/temporary";
import { counted } from "../lib/words";

export const stateOfAlert = ({ severity }: Alert): State => (severity === "critical" ? "over" : "high");

const since = ({ since: at }: Alert): string => (at === undefined ? "" : ` since ${formatTime(at)}`);

function used({ usage = 0, quota = 0, unit }: Alert): string {
  return `${format(usage, unit)} of ${format(quota, unit)}`;
}

/** `Commitment of 5 cores in west-1`. */
function commitment({ commitment: one, service = "", resource = "", unit }: Alert): string {
  if (!one) return "A commitment";
  const amount = unit ? `${format(one.amount, unit)} of` : format(one.amount);
  return `The commitment of ${amount} ${resourceTitle(service, resource)} in ${zoneName(one.availability_zone)}`;
}

const temporary = ({ temporary_quota: one, unit }: Alert): string => (one ? `, ${temporaryText(one, unit)}${one.problem ? `: ${one.problem}` : ""}` : "");

const TEXTS: Record<string, (alert: Alert) => string> = {
  backend_unreachable: (one) => `The backend of ${one.service} cannot be reached${since(one)}`,
  capacity_unreachable: (one) => `Capacitor ${one.capacitor} cannot be reached${since(one)}`,
  capacity_drop: (one) => `${titleOf(one)}: capacitor ${one.capacitor} reports much less than before${since(one)}`,
  scrapes_fail: (one) => `The backend of ${one.service} could not be read in ${(one.failing_projects ?? 0).toLocaleString("en")} of ${counted(one.projects ?? 0, "project")}${since(one)}`,
  quota_not_written: (one) => `The backend of ${one.service} does not take the quota of ${counted(one.unwritten_projects ?? 0, "project")}`,
  usage_above_quota: (one) => `${titleOf(one)}: more is used than the quota, ${used(one)}`,
  quota_used: (one) => `${titleOf(one)}: ${percent(one.usage ?? 0, one.quota ?? 0)} of the quota is used, ${used(one)}`,
  auto_renewal_failed: (one) => `${commitment(one)} could not renew itself${one.commitment?.auto_renew_error ? `: ${one.commitment.auto_renew_error}` : ""}`,
  commitment_unconfirmed: (one) =>
    `${commitment(one)} is not confirmed${one.commitment?.confirm_by === undefined ? "" : `, though it was to start on ${formatDate(one.commitment.confirm_by)}`}`,
  temporary_quota_ends: (one) => `${titleOf(one)}: quota for a time${temporary(one)}`,
  temporary_quota_over: (one) => `${titleOf(one)}: quota for a time could not be given back${temporary(one)}`,
  temporary_quota_waits: (one) => `${titleOf(one)}: a planned raise waits${temporary(one)}`,
  commitment_expires: (one) => `${commitment(one)} ends${one.commitment ? ` ${relative(one.commitment.expires_at)}, on ${formatDate(one.commitment.expires_at)}` : ""}`,
};

const titleOf = ({ service = "", resource = "" }: Alert): string => resourceTitle(service, resource);

/** Kinds that a newer API has and this page does not know are named as they are. */
export function alertText(alert: Alert): string {
  const known = TEXTS[alert.kind];
  if (known) return known(alert);
  const name = alert.kind.replaceAll("_", " ");
  return alert.resource ? `${titleOf(alert)}: ${name}` : [name, alert.service].filter(Boolean).join(": ");
}

/** Where one sees more of it; `at` is what is looked at. */
export function alertPath(alert: Alert, at: Place): string {
  const place = alert.project ? { domain: alert.project.domain.id, project: alert.project.id } : at;
  const { commitment: one, service, resource } = alert;
  if (one) return pagePath(place, `/commitments?do=manage&id=${one.id}`);
  if (resource && place.domain) return pagePath(place, `/history?resource=${encodeURIComponent(`${service}/${resource}`)}`);
  if (!at.domain) return "/ui/scrape-errors";
  return at.project ? pagePath(at, "?show=failing") : pagePath(at, "/backends");
}
