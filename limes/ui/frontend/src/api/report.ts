// Reports of all three levels in one form, so that pages need not care which one they show.
import { remember } from "../lib/names";
import { apiPath, type Level, levelOf, type Place } from "../lib/paths";
import { resourceTitle } from "../session/resources";
import { request } from "./client";
import type * as api from "./schema";

type AnyResource = api.ClusterResource | api.DomainResource | api.ProjectResource;
type AnyService = api.ClusterService | api.DomainService | api.ProjectService;
type AnyAz = api.ClusterPerAz | api.DomainPerAz | api.ProjectPerAz;
type ByDuration = Record<string, number>;

/** Commitments by what has become of them. */
export interface Commitments {
  committed: number;
  pending: number;
  planned: number;
}

export interface AzFigures extends Commitments {
  name: string;
  usage: number;
  capacity: number | undefined;
  /** Where it grows by itself. */
  quota?: number | undefined;
}

export interface Figures extends Commitments {
  service: string;
  name: string;
  title: string;
  unit: string;
  category: string | undefined;
  /** Quota, or on the cloud's level capacity. Undefined where there is none. */
  limit: number | undefined;
  usage: number;
  /** What was given to the level below. */
  distributed: number | undefined;
  azs: AzFigures[];
  /** Whether quota grows by itself, and is not set by users. */
  grows: boolean;
  raw: AnyResource;
}

export interface ServiceFigures {
  type: string;
  area: string;
  isStale: boolean;
  scrapedAt: number | undefined;
  /** Why the figures are old or missing. */
  problem: string | undefined;
  resources: Figures[];
}

export interface Report {
  level: Level;
  name: string;
  place: Place;
  etag: string | null;
  services: ServiceFigures[];
  project: api.Project | undefined;
}

/** Asks for availability zones, and with them for commitments. */
export const PER_AZ = { "X-Limes-V2-API-Preview": "per-az" };

const total = (amounts: ByDuration | undefined): number => Object.values(amounts ?? {}).reduce((sum, one) => sum + one, 0);

function azFigures(name: string, az: AnyAz): AzFigures {
  const usage = "projects_usage" in az && az.projects_usage !== undefined ? az.projects_usage : (az.usage ?? 0);
  return {
    name,
    usage,
    capacity: "capacity" in az ? az.capacity : undefined,
    quota: "quota" in az ? az.quota : undefined,
    committed: total(az.committed),
    pending: total(az.pending_commitments),
    planned: total(az.planned_commitments),
  };
}

const grows = (resource: AnyResource): boolean => resource.quota_distribution_model === "autogrow";

function distributed(resource: AnyResource): number | undefined {
  if ("domains_quota" in resource) return resource.domains_quota;
  if (grows(resource)) return undefined; // the sum of what its projects have is all that a domain has
  return "projects_quota" in resource ? resource.projects_quota : undefined;
}

export function figures(service: string, resource: AnyResource): Figures {
  const azs = Object.entries(resource.per_az ?? {}).map(([name, az]) => azFigures(name, az));
  const sum = (key: keyof Commitments): number => azs.reduce((before, az) => before + az[key], 0);
  return {
    service,
    name: resource.name,
    title: resourceTitle(service, resource.name, resource.display_name),
    unit: resource.unit ?? "",
    category: resource.category,
    limit: "quota" in resource ? resource.quota : "capacity" in resource ? resource.capacity : undefined,
    usage: resource.usage,
    distributed: distributed(resource),
    committed: "committed" in resource && resource.committed !== undefined ? resource.committed : sum("committed"),
    pending: sum("pending"),
    planned: sum("planned"),
    azs,
    grows: grows(resource),
    raw: resource,
  };
}

export function serviceFigures(service: AnyService): ServiceFigures {
  return {
    type: service.type,
    area: service.area,
    isStale: service.is_stale ?? false,
    scrapedAt: "scraped_at" in service ? service.scraped_at : "min_scraped_at" in service ? service.min_scraped_at : undefined,
    problem: "scrape_problem" in service ? service.scrape_problem?.message : undefined,
    resources: service.resources.map((one) => figures(service.type, one)),
  };
}

type ReportAnswer = { cluster?: api.Cluster; domain?: api.Domain; project?: api.Project };

export const keyOf = (one: { service: string; name: string }): string => `${one.service}/${one.name}`;

/** The report of a cloud, domain or project, with availability zones. */
export async function loadReport(place: Place, signal?: AbortSignal): Promise<Report> {
  const { data, etag } = await request<ReportAnswer>(apiPath(place), { headers: PER_AZ, signal });
  const named = data.project ?? data.domain;
  if (named) remember([named]);
  const services: AnyService[] = (data.project ?? data.domain ?? data.cluster)?.services ?? [];
  return {
    level: levelOf(place),
    name: named?.name ?? "Cloud",
    place,
    etag,
    services: services.map(serviceFigures),
    project: data.project,
  };
}
