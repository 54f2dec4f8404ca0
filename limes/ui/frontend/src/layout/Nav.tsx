// The navigation: the cloud for who sees it, and the domain or project of the address or else of the token.
import { useLocation } from "preact-iso";
import { useId } from "preact/hooks";
import { nameOf, useNames } from "../lib/names";
import type { Level } from "../lib/paths";
import { useRights } from "../session/rights";
import { Badge, type Badges, useBadges } from "./badges";
import { entriesAt, type EntryGroup, placeIn } from "./entries";

const KINDS: Record<Level, string | undefined> = { cloud: undefined, domain: "Domain", project: "Project" };

export function Nav() {
  const { path } = useLocation();
  const at = placeIn(path);
  useNames(at);
  const rights = useRights(at);
  const badges = useBadges(at, rights);
  return (
    <nav id="nav" class="nav" aria-label="Main">
      {entriesAt(at, rights).map((group) => (
        <Group key={group.level} of={group} title={group.level === "cloud" ? "Cloud" : nameOf(at.project ?? at.domain ?? "")} path={path} badges={badges} />
      ))}
    </nav>
  );
}

interface GroupProps {
  of: EntryGroup;
  title: string;
  path: string;
  badges: Badges;
}

function Group({ of: { level, entries }, title, path, badges }: GroupProps) {
  const id = useId();
  const kind = KINDS[level];
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {kind && <small>{kind}</small>} {title}
      </h2>
      <ul>
        {entries.map((one) => (
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
