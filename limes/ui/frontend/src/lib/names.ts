// Names of domains and projects by id, as far as we have seen them; and of availability zones.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/client";
import type { DomainAnswer, ProjectAnswer } from "../api/schema";
import { placeOf, scopeTitle } from "../session/scope";
import { seesCloud, session } from "../session/store";
import { apiPath, type Place } from "./paths";

const names = signal<Readonly<Record<string, string>>>({});
/** Domains and projects whose names are on their way: the page and the navigation want the same one. */
const asked = new Set<string>();

export function remember(found: Iterable<{ id: string; name: string }>): void {
  const before = names.peek();
  const fresh = [...found].filter((one) => before[one.id] !== one.name).map((one) => [one.id, one.name] as const);
  if (fresh.length > 0) names.value = { ...before, ...Object.fromEntries(fresh) };
}

/** What the token itself says. */
function fromSession(id: string): string | undefined {
  const scope = session.value?.scope;
  if (!scope) return undefined;
  const at = placeOf(scope);
  if ((at.project ?? at.domain) === id) return scopeTitle(scope);
  return "project" in scope && scope.project.domain.id === id ? (scope.project.domain.name ?? undefined) : undefined;
}

export function nameOf(id: string): string {
  return names.value[id] ?? fromSession(id) ?? id;
}

/** Whether the address leads to something above the token's own scope. */
export function seesDomain(domain: string): boolean {
  const scope = session.value?.scope;
  return (seesCloud.value ?? false) || (scope != null && "domain" in scope && scope.domain.id === domain);
}

/** The same of a project. */
export function seesProject({ domain, project }: Place): boolean {
  const scope = session.value?.scope;
  return seesDomain(domain ?? "") || (scope != null && "project" in scope && scope.project.id === project);
}

function learnName(at: Place): void {
  const id = at.project ?? at.domain;
  if (!id || nameOf(id) !== id || asked.has(id)) return;
  asked.add(id);
  get<Partial<DomainAnswer & ProjectAnswer>>(apiPath(at), { query: { service: "" } })
    .then(
      ({ project, domain }) => remember([project, domain].filter((one) => one !== undefined)),
      () => undefined, // then it is shown by its id
    )
    .finally(() => asked.delete(id));
}

/** Asks for the names of a place's domain and project, if need be. */
export function useNames({ domain, project }: Place): void {
  useEffect(() => {
    if (domain && seesDomain(domain)) learnName({ domain });
    if (project && seesProject({ domain, project })) learnName({ domain, project });
  }, [domain, project, seesCloud.value]);
}

export { resourceTitle } from "../session/resources";

/** An availability zone as people call it. */
export const zoneName = (name: string): string => (name === "any" ? "any zone" : name);
