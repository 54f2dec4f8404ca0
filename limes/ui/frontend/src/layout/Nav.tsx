// The navigation: the cloud for who sees it, and the domain or project of the address or else of the token.
import { useLocation } from "preact-iso";
import { useId } from "preact/hooks";
import { nameOf, useDomainName } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { placeOf } from "../session/scope";
import { seesCloud, session } from "../session/store";

interface Entry {
  title: string;
  href: string;
}

const PLACE = /^\/ui\/domains\/([^/]+)(?:\/projects\/([^/]+))?/;

function place(path: string): Place {
  const match = PLACE.exec(path);
  if (match) return { domain: decodeURIComponent(match[1]!), project: match[2] && decodeURIComponent(match[2]) };
  const scope = session.value?.scope;
  return scope && !seesCloud.value ? placeOf(scope) : {};
}

const CLOUD: Entry[] = [
  { title: "Overview", href: "/ui/cloud" },
  { title: "Domains", href: "/ui/domains" },
  { title: "Projects", href: "/ui/projects" },
  { title: "Commitments", href: "/ui/commitments" },
  { title: "Inconsistencies", href: "/ui/inconsistencies" },
  { title: "Scrape errors", href: "/ui/scrape-errors" },
];

function ofDomain(at: Place): Entry[] {
  return [
    { title: "Overview", href: pagePath(at) },
    { title: "Projects", href: pagePath(at, "/projects") },
    { title: "Set quota", href: pagePath(at, "/quota") },
    { title: "Commitments", href: pagePath(at, "/commitments") },
    { title: "History", href: pagePath(at, "/history") },
  ];
}

function ofProject(at: Place): Entry[] {
  return [
    { title: "Overview", href: pagePath(at) },
    { title: "Set quota", href: pagePath(at, "/quota") },
    { title: "Commitments", href: pagePath(at, "/commitments") },
    { title: "Utilisation", href: pagePath(at, "/utilisation") },
    { title: "History", href: pagePath(at, "/history") },
  ];
}

export function Nav() {
  const { path } = useLocation();
  const at = place(path);
  useDomainName(at);
  return (
    <nav id="nav" class="nav" aria-label="Main">
      {seesCloud.value && <Group title="Cloud" entries={CLOUD} path={path} />}
      {at.domain && !at.project && <Group kind="Domain" title={nameOf(at.domain)} entries={ofDomain(at)} path={path} />}
      {at.project && <Group kind="Project" title={nameOf(at.project)} entries={ofProject(at)} path={path} />}
    </nav>
  );
}

function Group({ kind, title, entries, path }: { kind?: string; title: string; entries: Entry[]; path: string }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {kind && <small>{kind}</small>} {title}
      </h2>
      <ul>
        {entries.map((one) => (
          <li key={one.href}>
            <a href={one.href} {...(path === one.href ? { "aria-current": "page" as const } : {})}>
              {one.title}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
