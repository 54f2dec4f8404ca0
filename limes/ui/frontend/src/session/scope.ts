// Scopes in words, and where they lead.
import type { Place } from "../lib/paths";
import type { Credentials, Scope } from "./types";

const nameOf = (one: { id: string; name: string | null }): string => one.name ?? one.id;

export function scopeTitle(scope: Scope): string {
  if ("project" in scope) return nameOf(scope.project);
  return "domain" in scope ? nameOf(scope.domain) : "Whole system";
}

export function scopeKind(scope: Scope): string {
  if ("project" in scope) return scope.project.domain.name ? `project in ${scope.project.domain.name}` : "project";
  return "domain" in scope ? "domain" : "system";
}

export function placeOf(scope: Scope): Place {
  if ("project" in scope) return { domain: scope.project.domain.id, project: scope.project.id };
  return "domain" in scope ? { domain: scope.domain.id } : {};
}

export function choiceOf(scope: Scope): Extract<Credentials, { method: "scope" }> {
  if ("project" in scope) return { method: "scope", scope: { project: scope.project.id } };
  return { method: "scope", scope: "domain" in scope ? { domain: scope.domain.id } : { system: "all" } };
}
