// The frame of each page: title, where one is, what can be done. A new page takes the focus, as a page load would.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { nameOf, seesDomain, seesProject } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { cloudTitle, seesCloud } from "../session/store";

export interface Crumb {
  title: string;
  href: string;
}

interface Props {
  title: string;
  /** What this is, in a word (project, domain), or to which of them it belongs. */
  kind?: string | undefined;
  crumbs?: Crumb[];
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, kind, crumbs = [], actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = [title, kind, cloudTitle.value].filter(Boolean).join(" · ");
  }, [title, kind]);
  useEffect(() => {
    if (!document.activeElement || document.activeElement === document.body || !document.activeElement.isConnected) return;
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <header class="page-head">
        {crumbs.length > 0 && (
          <nav aria-label="Breadcrumb">
            <ol class="crumbs">
              {crumbs.map((one) => (
                <li key={one.href}>
                  <a href={one.href}>{one.title}</a>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title} {kind && <small>{kind}</small>}
          </h1>
          {actions && <div class="actions">{actions}</div>}
        </div>
      </header>
      {children}
    </>
  );
}

/** The way to a place; with `own` up to the place itself. Without what this user's scope does not see. */
export function crumbsTo(at: Place, own = false): Crumb[] {
  const crumbs: Crumb[] = [];
  if (seesCloud.value && at.domain) crumbs.push({ title: "Domains", href: "/ui/domains" });
  if (at.domain && (at.project || own) && seesDomain(at.domain)) {
    crumbs.push({ title: nameOf(at.domain), href: pagePath({ domain: at.domain }) });
  }
  if (at.project && own && seesProject(at)) crumbs.push({ title: nameOf(at.project), href: pagePath(at) });
  return crumbs;
}
