// The pages that there are, as the navigation and the palette show them: of the cloud, a domain and a project.
import type { Rights } from "../api/rights";
import { type Level, pagePath, type Place } from "../lib/paths";
import { placeOf } from "../session/scope";
import { seesCloud, session } from "../session/store";

export interface Entry {
  title: string;
  href: string;
  /** Whether its page would be a refusal. */
  isForbidden?: boolean;
}

const PLACE = /^\/ui\/domains\/([^/]+)(?:\/projects\/([^/]+))?/;

/** The domain or project of an address, or else of the token. */
export function placeIn(path: string): Place {
  const match = PLACE.exec(path);
  if (match) return { domain: decodeURIComponent(match[1]!), project: match[2] && decodeURIComponent(match[2]) };
  const scope = session.value?.scope;
  return scope && !seesCloud.value ? placeOf(scope) : {};
}

function ofCloud(may?: Rights["cloud"]): Entry[] {
  return [
    { title: "Overview", href: "/ui/cloud" },
    { title: "Domains", href: "/ui/domains" },
    { title: "Projects", href: "/ui/projects", isForbidden: may && !may.list_projects },
    { title: "Requests", href: "/ui/requests", isForbidden: !may?.list_requests },
    { title: "Commitments", href: "/ui/commitments", isForbidden: may && !may.list_projects },
    { title: "Usage over time", href: "/ui/usage", isForbidden: may && !may.show },
    { title: "Usage report", href: "/ui/usage-report", isForbidden: may && !may.list_projects },
    { title: "Changes", href: "/ui/changes", isForbidden: !may?.show_history },
    { title: "Alerts", href: "/ui/alerts", isForbidden: !may?.show_alerts },
    { title: "Inconsistencies", href: "/ui/inconsistencies", isForbidden: may && !may.show_inconsistencies },
    { title: "Scrape errors", href: "/ui/scrape-errors", isForbidden: may && !may.show_errors },
  ];
}

function ofDomain(at: Place, may?: Rights["domain"]): Entry[] {
  return [
    { title: "Overview", href: pagePath(at), isForbidden: may && !may.show },
    { title: "Projects", href: pagePath(at, "/projects"), isForbidden: may && !may.list_projects },
    { title: "Set quota", href: pagePath(at, "/quota"), isForbidden: !may?.set_quota },
    { title: "Requests", href: pagePath(at, "/requests"), isForbidden: !may?.show_requests },
    { title: "Commitments", href: pagePath(at, "/commitments"), isForbidden: may && !may.list_projects },
    { title: "Usage over time", href: pagePath(at, "/usage"), isForbidden: may && !may.show },
    { title: "Usage report", href: pagePath(at, "/usage-report"), isForbidden: may && !may.list_projects },
    { title: "Changes", href: pagePath(at, "/changes"), isForbidden: may && !may.show_history },
    { title: "Alerts", href: pagePath(at, "/alerts"), isForbidden: !may?.show_alerts },
    { title: "Backends", href: pagePath(at, "/backends"), isForbidden: may && !may.show },
  ];
}

function ofProject(at: Place, may?: Rights["project"]): Entry[] {
  return [
    { title: "Overview", href: pagePath(at), isForbidden: may && !may.show },
    { title: "Set quota", href: pagePath(at, "/quota"), isForbidden: !may?.set_quota },
    { title: "Requests", href: pagePath(at, "/requests"), isForbidden: !may?.show_requests },
    { title: "Commitments", href: pagePath(at, "/commitments"), isForbidden: may && !may.show },
    { title: "Utilisation", href: pagePath(at, "/utilisation"), isForbidden: may && !may.show },
    { title: "Usage over time", href: pagePath(at, "/usage"), isForbidden: may && !may.show },
    { title: "Usage report", href: pagePath(at, "/usage-report"), isForbidden: may && !may.show },
    { title: "Changes", href: pagePath(at, "/changes"), isForbidden: may && !may.show_history },
    { title: "Alerts", href: pagePath(at, "/alerts"), isForbidden: !may?.show_alerts },
  ];
}

export interface EntryGroup {
  level: Level;
  entries: Entry[];
}

/** What there is for this user: of the cloud, and of the place. */
export function entriesAt(at: Place, rights: Rights | undefined): EntryGroup[] {
  const groups: EntryGroup[] = seesCloud.value ? [{ level: "cloud", entries: ofCloud(rights?.cloud) }] : [];
  if (at.project) groups.push({ level: "project", entries: ofProject(at, rights?.project) });
  else if (at.domain) groups.push({ level: "domain", entries: ofDomain(at, rights?.domain) });
  return groups.map(({ level, entries }) => ({ level, entries: entries.filter((one) => !one.isForbidden) })).filter((one) => one.entries.length > 0);
}
