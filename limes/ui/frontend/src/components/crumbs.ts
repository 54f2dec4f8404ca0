// Where a page is: the places above it that this user sees.
import { nameOf, seesDomain } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { seesCloud } from "../session/store";
import type { Crumb } from "./Page";

/** The way to a place; with `own` up to the place itself. */
export function crumbsTo(at: Place, own = false): Crumb[] {
  const crumbs: Crumb[] = [];
  if (seesCloud.value && at.domain) crumbs.push({ title: "Domains", href: "/ui/domains" });
  if (at.domain && (at.project || own) && seesDomain(at.domain)) {
    crumbs.push({ title: nameOf(at.domain), href: pagePath({ domain: at.domain }) });
  }
  if (at.project && own) crumbs.push({ title: nameOf(at.project), href: pagePath(at) });
  return crumbs;
}
