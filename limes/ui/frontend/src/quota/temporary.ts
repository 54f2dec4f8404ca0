// Quota for a time, in words.
import type { Figures } from "../api/report";
import type { TemporaryQuota } from "../api/schema";
import { formatTime } from "../lib/time";
import { format } from "../lib/units";

/** The quota for a time of a resource, if it has one. */
export function temporaryOf({ raw }: Figures): TemporaryQuota | undefined {
  return "temporary_quota" in raw ? raw.temporary_quota : undefined;
}

/** `60 until 3 Mar 2027, 12:00, then 40`; what is planned; or by how much it is over. */
export function temporaryText(one: TemporaryQuota, unit: string | undefined): string {
  const amount = (of: number | undefined): string => (of === undefined ? "" : format(of, unit));
  if (one.state === "planned") return `${amount(one.quota)} from ${formatTime(one.from)} until ${formatTime(one.until)}`;
  if (one.state === "over") return `over by ${amount(one.over_by)} since ${formatTime(one.until)}, then ${amount(one.quota_before)}`;
  return `${amount(one.quota)} until ${formatTime(one.until)}, then ${amount(one.quota_before)}`;
}
