// Everything that the palette finds: pages, resources, and the domains and projects that this user sees.
import { useMemo } from "preact/hooks";
import { useOwnPlace } from "../alerts/alerts";
import { get } from "../api/client";
import { keyOf } from "../api/report";
import type { Rights } from "../api/rights";
import type { Link } from "../api/schema";
import { entriesAt } from "../layout/entries";
import { nameOf, remember } from "../lib/names";
import { apiPath, pagePath, type Place } from "../lib/paths";
import { polled } from "../lib/polled";
import { learnResources, type ResourceInfo, resources } from "../session/resources";
import { useRights } from "../session/rights";
import type { Item } from "./ranking";

interface Named {
  id: string;
  name: string;
  /** Of a project in the list of all. */
  domain?: { id: string; name: string };
}

interface Places {
  domains: Named[];
  projects: Named[];
}

/** As many as the API allows. */
const PAGE = 1000;
/** A list without any figures. */
const NO_FIGURES = { service: "" };

async function listed(path: string, list: keyof Places): Promise<Named[]> {
  const found: Named[] = [];
  for (let marker: string | undefined, isMore = true; isMore; marker = found.at(-1)?.id) {
    const answer = await get<Partial<Record<string, Named[] & Link[]>>>(path, { query: { ...NO_FIGURES, limit: PAGE, marker } });
    found.push(...(answer[list] ?? []));
    isMore = (answer[`${list}_links`] ?? []).length > 0;
  }
  remember(found);
  return found;
}

/** Names of all that is below a place: some pages of names, however many figures there are. */
const places = polled<Places>(async (at) => {
  if (at.project) return { domains: [], projects: [] };
  if (at.domain) return { domains: [], projects: await listed(apiPath(at, "/projects"), "projects") };
  const [domains, projects] = await Promise.all([listed("/v1/domains", "domains"), listed("/v1/projects", "projects")]);
  return { domains, projects };
});

const projectItem = (one: Named, domain: string | undefined): Item => ({
  kind: "project",
  title: one.name,
  hint: `in ${one.domain?.name ?? nameOf(domain ?? "")}`,
  id: one.id,
  href: pagePath({ domain: one.domain?.id ?? domain, project: one.id }),
});

const domainItem = ({ id, name }: Named): Item => ({ kind: "domain", title: name, hint: "", id, href: pagePath({ domain: id }) });

function placeItem(at: Place): Item[] {
  const id = at.project ?? at.domain;
  if (!id) return [];
  const one = { id, name: nameOf(id) };
  return at.project ? [projectItem(one, at.domain)] : [domainItem(one)];
}

/** A resource leads to how it is used where the user is. */
const resourceItem = (one: ResourceInfo, at: Place): Item => ({
  kind: "resource",
  title: one.title,
  hint: one.service,
  id: keyOf(one),
  href: (at.domain ? pagePath(at, "/usage") : "/ui/usage") + `?resource=${encodeURIComponent(keyOf(one))}`,
});

function pageItems(at: Place, rights: Rights | undefined): Item[] {
  const where = { cloud: "cloud", domain: `domain ${nameOf(at.domain ?? "")}`, project: `project ${nameOf(at.project ?? "")}` };
  return entriesAt(at, rights).flatMap(({ level, entries }) =>
    entries.map((one): Item => ({ kind: "page", title: one.title, hint: where[level], href: one.href })),
  );
}

export interface Items {
  items: readonly Item[];
  isLoading: boolean;
  error: Error | undefined;
}

/** `at` is where the user is. The own domain or project is there at once, and what is below it a little later. */
export function useItems(at: Place): Items {
  const own = useOwnPlace();
  const rights = useRights(at);
  const all = resources.value;
  const ownRights = useRights(own ?? {});
  const seesList = own && (own.domain ? ownRights?.domain.list_projects : ownRights?.cloud.list_projects);
  const below = seesList && !own.project ? own : undefined;
  const found = places.use(below);
  const error = below && places.errorOf(below);
  if (all === undefined) learnResources().catch(() => undefined); // then it finds none of them
  const items = useMemo(() => {
    const isElsewhere = own?.domain !== undefined && pagePath(own) !== pagePath(at);
    const pages = [...pageItems(at, rights), ...(isElsewhere ? pageItems(own, ownRights) : [])];
    const projects = (found?.projects ?? []).map((one) => projectItem(one, own?.domain));
    const owns = own ? placeItem(own) : [];
    return [...pages, ...(all ?? []).map((one) => resourceItem(one, at)), ...owns, ...(found?.domains ?? []).map(domainItem), ...projects];
  }, [pagePath(at), rights, ownRights, found, all, own && pagePath(own)]);
  return { items, isLoading: below !== undefined && !found && !error, error };
}
