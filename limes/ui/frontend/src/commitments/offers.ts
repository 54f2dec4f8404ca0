// What a project can commit to, from its report.
import { keyOf, type Figures, type Report } from "../api/report";
import type { Wanted } from "../api/commitments";

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

/** The smallest commitment of an offer: to ask what is possible at all. */
export function exampleOf(offer: Offer): Wanted {
  return {
    service_type: offer.service,
    resource_name: offer.resource,
    availability_zone: offer.zones[0] ?? ANY_ZONE,
    amount: 1,
    duration: offer.durations[0]!,
  };
}
