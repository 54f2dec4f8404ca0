// The most urgent alerts of a place and how many there are, as several parts of a page need them.
import { loadAlerts } from "../api/attention";
import type { AlertsAnswer } from "../api/schema";
import { levelOf, pagePath, type Place } from "../lib/paths";
import { polled } from "../lib/polled";
import { placeOf } from "../session/scope";
import { useRights } from "../session/rights";
import { seesCloud, session } from "../session/store";

/** The alerts on the first page. */
const MOST = 5;

const alerts = polled((at) => loadAlerts(at, MOST));

/** Undefined until they are there, and for those who may not see them. */
export function useAlerts(at: Place | undefined): AlertsAnswer | undefined {
  const rights = useRights(at ?? {});
  return alerts.use(at && rights?.[levelOf(at)].show_alerts ? at : undefined);
}

/** What the user has signed in for: the cloud, a domain or a project. */
export function useOwnPlace(): Place | undefined {
  const scope = session.value?.scope;
  if (!scope || seesCloud.value === undefined) return undefined;
  return seesCloud.value ? {} : placeOf(scope);
}

export const alertsPath = (at: Place): string => (at.domain ? pagePath(at, "/alerts") : "/ui/alerts");

export const totalOf = ({ counts }: AlertsAnswer): number => counts.critical + counts.warning;
