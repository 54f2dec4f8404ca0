// Addresses of the API and of our own pages.

/** A project, or (without one) a domain, or (with neither) the whole cloud. */
export interface Place {
  domain?: string | undefined;
  project?: string | undefined;
}

export type Level = "cloud" | "domain" | "project";

export function levelOf(place: Place): Level {
  return place.project ? "project" : place.domain ? "domain" : "cloud";
}

function below(root: string, place: Place): string {
  const domain = place.domain ? `/domains/${encodeURIComponent(place.domain)}` : "";
  return root + domain + (place.project ? `/projects/${encodeURIComponent(place.project)}` : "");
}

/** Where the API has a domain or a project. */
export function apiPath(place: Place, rest = ""): string {
  return (place.domain ? below("/v1", place) : "/v1/clusters/current") + rest;
}

/** Where we show it. */
export function pagePath(place: Place, rest = ""): string {
  return (place.domain ? below("/ui", place) : "/ui/cloud") + rest;
}
