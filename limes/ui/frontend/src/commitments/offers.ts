// What a project can commit to, from its report.
import { listCommitments } from "../api/commitments";
import { type Figures, keyOf, loadReport, type Report } from "../api/report";
import type { Commitment } from "../api/schema";
import type { Place } from "../lib/paths";

export interface Offer {
  key: string;
  service: string;
  resource: string;
  title: string;
  unit: string;
  durations: string[];
  zones: string[];
  /** Not before this time, in UNIX seconds. */
  earliest: number | undefined;
  figures: Figures;
}

/** The zone of resources whose commitments are not bound to one. */
export const ANY_ZONE = "any";

export function offersOf(report: Report): Offer[] {
  return report.services
    .flatMap((one) => one.resources)
    .flatMap((figures) => {
      const config = "commitment_config" in figures.raw ? figures.raw.commitment_config : undefined;
      if (!config) return [];
      const { durations, min_confirm_by: earliest, availability_zones: zones = [ANY_ZONE] } = config;
      const { service, name: resource, title, unit } = figures;
      return [{ key: keyOf(figures), service, resource, title, unit, durations, zones, earliest, figures }];
    });
}

export interface Overview {
  name: string;
  offers: Offer[];
  /** With ended ones. */
  commitments: Commitment[];
  /** The resources of the whole cloud, by `keyOf`; empty where this user does not see them. */
  cloud: Map<string, Figures>;
}

export async function loadOverview(at: Place, signal?: AbortSignal): Promise<Overview> {
  const [report, cloud, commitments] = await Promise.all([
    loadReport(at, signal),
    loadReport({}, signal).catch(() => undefined),
    listCommitments(at, signal),
  ]);
  const resources = (cloud?.services ?? []).flatMap((one) => one.resources);
  return { name: report.name, offers: offersOf(report), commitments, cloud: new Map(resources.map((one) => [keyOf(one), one])) };
}
