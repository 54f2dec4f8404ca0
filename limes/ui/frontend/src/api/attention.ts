// What needs attention in the cloud, a domain or a project.
import { apiPath, type Place } from "../lib/paths";
import { get } from "./client";
import type {
  AlertsAnswer,
  ExpiringCommitmentsAnswer,
  ForecastAnswer,
  FullestAnswer,
  ResourceForecast,
  ScrapeStatus,
  ScrapeStatusAnswer,
  UsageDay,
  UsageHistoryAnswer,
  UsageOfResource,
} from "./schema";

/** The same document of the cloud is not below its own address. */
const path = (at: Place, rest: string): string => (at.domain ? apiPath(at, rest) : `/v1${rest}`);

/** Of a cloud or a domain. */
export async function loadScrapeStatus(at: Place, signal?: AbortSignal): Promise<ScrapeStatus> {
  const from = at.domain ? path({ domain: at.domain }, "/scrape-status") : "/v1/admin/scrape-status";
  return (await get<ScrapeStatusAnswer>(from, { signal })).scrape_status;
}

/** Of a cloud or a domain. */
export function loadFullest(at: Place, limit: number, signal?: AbortSignal): Promise<FullestAnswer> {
  return get<FullestAnswer>(path({ domain: at.domain }, "/projects/fullest"), { query: { limit }, signal });
}

export function loadExpiring(at: Place, days: number, limit: number, signal?: AbortSignal): Promise<ExpiringCommitmentsAnswer> {
  return get<ExpiringCommitmentsAnswer>(path(at, "/expiring-commitments"), { query: { days, limit }, signal });
}

export function loadAlerts(at: Place, limit: number, signal?: AbortSignal): Promise<AlertsAnswer> {
  return get<AlertsAnswer>(path(at, "/alerts"), { query: { limit }, signal });
}

/** Of one resource, or without it of all for which there are such figures. */
export async function loadUsage(at: Place, days: number, key?: string, signal?: AbortSignal): Promise<UsageOfResource[]> {
  const [service, resource] = key?.split("/") ?? [];
  return (await get<UsageHistoryAnswer>(path(at, "/usage-history"), { query: { days, service, resource }, signal })).usage_history;
}

/** Hours of one resource. */
export async function loadHours(at: Place, days: number, key: string, signal?: AbortSignal): Promise<UsageDay[] | undefined> {
  const [service, resource] = key.split("/");
  const query = { days, service, resource, granularity: "hour" };
  return (await get<UsageHistoryAnswer>(path(at, "/usage-history"), { query, signal })).usage_history[0]?.hours;
}

/** Of one resource in the cloud or a domain. Projects have none. */
export async function loadForecast(at: Place, key: string, signal?: AbortSignal): Promise<ResourceForecast | undefined> {
  if (at.project) return undefined;
  const [service, resource] = key.split("/");
  return (await get<ForecastAnswer>(path(at, "/forecast"), { query: { service, resource }, signal })).forecasts[0];
}
