// How many backends fail, as numbers in the navigation.
import type { Rights } from "../api/rights";
import { type Place, pagePath } from "../lib/paths";
import { failingOf } from "../overview/failing";
import { useScrapeStatus } from "../overview/status";
import { useRights } from "../session/rights";

export type Badges = Readonly<Record<string, number>>;

function useFailing(at: Place | undefined): number {
  const status = useScrapeStatus(at);
  return status ? failingOf(status).length : 0;
}

/** Of the cloud, and of a domain that is looked at, as far as this user may see them. */
export function useBadges({ domain, project }: Place, rights: Rights | undefined): Badges {
  const ofCloud = useFailing(rights?.cloud.show_errors ? {} : undefined);
  const ofDomain = useFailing(domain && !project && rights?.domain.show ? { domain } : undefined);
  return { "/ui/scrape-errors": ofCloud, [pagePath({ domain }, "/backends")]: ofDomain };
}

export function Badge({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span class="badge">
      {count.toLocaleString("en")}
      <span class="visually-hidden"> failing</span>
    </span>
  );
}

/** On the button that opens the navigation. */
export function CloudBadge() {
  return <Badge count={useFailing(useRights({})?.cloud.show_errors ? {} : undefined)} />;
}
