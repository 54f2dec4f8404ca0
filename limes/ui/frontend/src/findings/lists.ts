// What an admin has to look after: the three lists of inconsistencies in one form, and failed scrapes.
import type { Inconsistencies, ScrapeError } from "../api/schema";
import type { Place } from "../lib/paths";

export type Kind = "overcommitted" | "overspent" | "mismatch";

export interface Finding {
  /** Unique in its list. */
  key: string;
  name: string;
  place: Place;
  domain: { id: string; name: string };
  resource: string;
  unit: string;
  quota: number;
  /** What contradicts the quota: that of the projects, usage, or the backend's quota (-1: unlimited). */
  found: number;
}

export const KINDS: Record<Kind, { title: string; found: string; text: string; none: string }> = {
  overcommitted: {
    none: "No domain has given away more quota than it has.",
    title: "Domains overdrawn",
    found: "Given to projects",
    text: "The projects of these domains have more quota together than the domain itself. Raise the domain's quota, or lower the projects'.",
  },
  overspent: {
    none: "No project uses more than its quota.",
    title: "Projects beyond quota",
    found: "Used",
    text: "These projects use more than their quota: the usage is older than the quota, or the backend counts late.",
  },
  mismatch: {
    none: "Every backend enforces the quota that Limes has.",
    title: "Backends differ",
    found: "In the backend",
    text: "The backend enforces a different quota than Limes. The collector corrects that at its next run, unless it only reports.",
  },
};

interface Described {
  service: string;
  resource: string;
  unit?: string;
}

function ofProject(
  item: Described & { project: { id: string; name: string; domain: { id: string; name: string } }; quota: number },
  found: number,
): Finding {
  const { project, quota } = item;
  const resource = `${item.service}/${item.resource}`;
  return {
    key: `${project.id} ${resource}`,
    name: project.name,
    place: { domain: project.domain.id, project: project.id },
    domain: project.domain,
    resource,
    unit: item.unit ?? "",
    quota,
    found,
  };
}

export function findingsOf(lists: Inconsistencies): Record<Kind, Finding[]> {
  return {
    overcommitted: lists.domain_quota_overcommitted.map((item) => {
      const resource = `${item.service}/${item.resource}`;
      const { domain, domain_quota: quota, projects_quota: found, unit = "" } = item;
      return { key: `${domain.id} ${resource}`, name: domain.name, place: { domain: domain.id }, domain, resource, unit, quota, found };
    }),
    overspent: lists.project_quota_overspent.map((item) => ofProject(item, item.usage)),
    mismatch: lists.project_quota_mismatch.map((item) => ofProject(item, item.backend_quota)),
  };
}

/** By resource, and by what is in the names or ids of project and domain. */
export function filtered(findings: Finding[], resource: string, text: string): Finding[] {
  const wanted = text.trim().toLowerCase();
  return findings.filter(
    (one) =>
      (!resource || one.resource === resource) &&
      [one.name, one.domain.name, one.place.project ?? "", one.domain.id].some((part) => part.toLowerCase().includes(wanted)),
  );
}

/** How far off it is, to sort by: unlimited is farthest. */
export const distance = (one: Finding): number => (one.found < 0 ? Number.MAX_SAFE_INTEGER : Math.abs(one.found - one.quota));

export const affected = (one: ScrapeError): number => one.affected_projects ?? 1;

export function filteredErrors(errors: ScrapeError[], service: string, text: string): ScrapeError[] {
  const wanted = text.trim().toLowerCase();
  return errors.filter(
    (one) =>
      (!service || one.service_type === service) &&
      [one.message, one.project.name, one.project.id, one.project.domain.name].some((part) => part.toLowerCase().includes(wanted)),
  );
}
