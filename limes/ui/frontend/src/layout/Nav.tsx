// The navigation: the cloud for who sees it, and the domain or project of the address or else of the token.
import { useLocation } from "preact-iso";
import { useId } from "preact/hooks";
import type { Rights } from "../api/rights";
import { nameOf, useNames } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { placeOf } from "../session/scope";
import { useRights } from "../session/rights";
import { seesCloud, session } from "../session/store";
import { Badge, type Badges, useBadges } from "./badges";

interface Entry {
  title: string;
  href: string;
  /** Whether its page would be a refusal. */
  isForbidden?: boolean;
}

const PLACE = /^\/ui\/domains\/([^/]+)(?:\/projects\/([^/]+))?/;

function place(path: string): Place {
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

export function Nav() {
  const { path } = useLocation();
  const at = place(path);
  useNames(at);
  const rights = useRights(at);
  const badges = useBadges(at, rights);
  return (
    <nav id="nav" class="nav" aria-label="Main">
      {seesCloud.value && <Group title="Cloud" entries={ofCloud(rights?.cloud)} path={path} badges={badges} />}
      {at.domain && !at.project && (
        <Group kind="Domain" title={nameOf(at.domain)} entries={ofDomain(at, rights?.domain)} path={path} badges={badges} />
      )}
      {at.project && <Group kind="Project" title={nameOf(at.project)} entries={ofProject(at, rights?.project)} path={path} badges={badges} />}
    </nav>
  );
}

interface GroupProps {
  kind?: string;
  title: string;
  entries: Entry[];
  path: string;
  badges: Badges;
}

function Group({ kind, title, entries, path, badges }: GroupProps) {
  const id = useId();
  const allowed = entries.filter((one) => !one.isForbidden);
  if (allowed.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {kind && <small>{kind}</small>} {title}
      </h2>
      <ul>
        {allowed.map((one) => (
          <li key={one.href}>
            <a href={one.href} {...(path === one.href ? { "aria-current": "page" as const } : {})}>
              {one.title} <Badge of={badges[one.href]} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
