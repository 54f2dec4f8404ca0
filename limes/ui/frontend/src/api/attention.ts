// What needs attention in the cloud, a domain or a project.
import { apiPath, type Place } from "../lib/paths";
import type { Granularity } from "../usage/ranges";
import { get } from "./client";
import type {
  AlertsAnswer,
  ExpiringCommitmentsAnswer,
  ForecastAnswer,
  FullestAnswer,
  ResourceForecast,
  ScrapeStatus,
  ScrapeStatusAnswer,
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

/** All resources for which there are such figures. */
export async function loadUsed(at: Place, signal?: AbortSignal): Promise<UsageOfResource[]> {
  // two days, because the first look at today may be still to come
  return (await get<UsageHistoryAnswer>(path(at, "/usage-history"), { query: { days: 2 }, signal })).usage_history;
}

/** One resource, by hour, day or month. */
export async function loadUsage(at: Place, days: number, granularity: Granularity, key: string, signal?: AbortSignal): Promise<UsageOfResource | undefined> {
  const [service, resource] = key.split("/");
  const query = { days, granularity, service, resource };
  return (await get<UsageHistoryAnswer>(path(at, "/usage-history"), { query, signal })).usage_history[0];
}

/** Of one resource. */
export async function loadForecast(at: Place, key: string, signal?: AbortSignal): Promise<ResourceForecast | undefined> {
  const [service, resource] = key.split("/");
  return (await get<ForecastAnswer>(path(at, "/forecast"), { query: { service, resource }, signal })).forecasts[0];
}
