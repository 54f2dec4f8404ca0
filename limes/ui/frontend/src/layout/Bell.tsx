// How many alerts and unread decisions there are for the user, on every page.
import { totalOf, useAlerts, useOwnPlace } from "../alerts/alerts";
import { useUnread } from "../notifications/inbox";
import { bellText } from "../notifications/words";

const MOST_SHOWN = 99;

export function Bell() {
  const answer = useAlerts(useOwnPlace());
  const unread = useUnread();
  const total = unread + (answer ? totalOf(answer) : 0);
  const isCritical = (answer?.counts.critical ?? 0) > 0;
  const name = bellText(unread, answer?.counts);
  return (
    <a class="bell button quiet" href="/ui/notifications" title={name}>
      <span class="visually-hidden">My notifications: {name}</span>
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <path d="M10 2.5a5 5 0 0 0-5 5v3.2L3.5 14h13L15 10.7V7.5a5 5 0 0 0-5-5z" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linejoin="round" />
        <path d="M8 16.5a2 2 0 0 0 4 0z" fill="currentColor" />
      </svg>
      {total > 0 && (
        <span class="badge" data-severity={isCritical ? "critical" : "warning"} aria-hidden="true">
          {total > MOST_SHOWN ? `${MOST_SHOWN}+` : total}
        </span>
      )}
    </a>
  );
}
