// Failed scrapes: filters.
import type { ScrapeError } from "../api/schema";

export const affected = (one: ScrapeError): number => one.affected_projects ?? 1;

export function filtered(errors: ScrapeError[], service: string, text: string): ScrapeError[] {
  const wanted = text.trim().toLowerCase();
  return errors.filter(
    (one) =>
      (!service || one.service_type === service) &&
      [one.message, one.project.name, one.project.id, one.project.domain.name].some((part) => part.toLowerCase().includes(wanted)),
  );
}
