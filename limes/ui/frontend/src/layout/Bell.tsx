// The number of alerts for the user, on every page.
import { alertsPath, totalOf, useAlerts, useOwnPlace } from "../alerts/alerts";
import { counted } from "../lib/words";

const MOST_SHOWN = 99;

export function Bell() {
  const at = useOwnPlace();
  const answer = useAlerts(at);
  if (!at || !answer) return null;
  const total = totalOf(answer);
  const { critical } = answer.counts;
  const name = total === 0 ? "No alerts" : critical > 0 ? `${counted(total, "alert")}, ${critical.toLocaleString("en")} critical` : counted(total, "alert");
  return (
    <a class="bell button quiet" href={alertsPath(at)} title={name}>
      <span class="visually-hidden">{name}</span>
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <path d="M10 2.5a5 5 0 0 0-5 5v3.2L3.5 14h13L15 10.7V7.5a5 5 0 0 0-5-5z" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linejoin="round" />
        <path d="M8 16.5a2 2 0 0 0 4 0z" fill="currentColor" />
      </svg>
      {total > 0 && (
        <span class="badge" data-severity={critical > 0 ? "critical" : "warning"} aria-hidden="true">
          {total > MOST_SHOWN ? `${MOST_SHOWN}+` : total}
        </span>
      )}
    </a>
  );
}
