// How many backends fail and how many requests wait, as numbers in the navigation.
import { useOwnPlace } from "../alerts/alerts";
import type { Rights } from "../api/rights";
import { type Place, pagePath } from "../lib/paths";
import { failingOf } from "../overview/failing";
import { useScrapeStatus } from "../overview/status";
import { useWaiting } from "../requests/waiting";
import { listPath } from "../requests/words";
import { useRights } from "../session/rights";

export interface Count {
  count: number;
  /** What is counted, for those who only hear it. */
  word: "failing" | "waiting";
}

/** By the address of an entry. */
export type Badges = Readonly<Record<string, Count>>;

function useFailing(at: Place | undefined): number {
  const status = useScrapeStatus(at);
  return status ? failingOf(status).length : 0;
}

/** Of the cloud, and of a domain or project that is looked at, as far as this user may see them. */
export function useBadges(at: Place, rights: Rights | undefined): Badges {
  const { domain, project } = at;
  const ofCloud = useFailing(rights?.cloud.show_errors ? {} : undefined);
  const ofDomain = useFailing(domain && !project && rights?.domain.show ? { domain } : undefined);
  const askedOfCloud = useWaiting({});
  const askedHere = useWaiting(at);
  return {
    "/ui/scrape-errors": { count: ofCloud, word: "failing" },
    "/ui/requests": { count: askedOfCloud, word: "waiting" },
    ...(domain
      ? {
          [pagePath({ domain }, "/backends")]: { count: ofDomain, word: "failing" },
          [listPath(at)]: { count: askedHere, word: "waiting" },
        }
      : {}),
  };
}

export function Badge({ of }: { of: Count | undefined }) {
  if (!of || of.count === 0) return null;
  return (
    <span class="badge" data-word={of.word}>
      {of.count.toLocaleString("en")}
      <span class="visually-hidden"> {of.word}</span>
    </span>
  );
}

/** On the button that opens the navigation: of what the user has signed in for. */
export function OwnBadges() {
  const failing = useFailing(useRights({})?.cloud.show_errors ? {} : undefined);
  const own = useOwnPlace();
  const waiting = useWaiting(own);
  return (
    <>
      <Badge of={{ count: failing, word: "failing" }} />
      <Badge of={{ count: waiting, word: "waiting" }} />
    </>
  );
}
