// The most urgent alerts, on the first page.
import { StateIcon } from "../components/StateMark";
import type { Place } from "../lib/paths";
import { alertsPath, totalOf, useAlerts } from "./alerts";
import { alertPath, alertText, stateOfAlert } from "./words";

export function FirstAlerts({ at }: { at: Place }) {
  const answer = useAlerts(at);
  if (!answer || answer.alerts.length === 0) return null;
  const total = totalOf(answer);
  return (
    <section class="card first-alerts" aria-label="Alerts">
      <header class="card-head">
        <h2>Alerts</h2>
        <a href={alertsPath(at)}>{total > answer.alerts.length ? `All ${total.toLocaleString("en")} alerts` : "All alerts"}</a>
      </header>
      <ul>
        {answer.alerts.map((one, index) => (
          <li key={index}>
            <StateIcon state={stateOfAlert(one)} />
            <span>
              <span class="visually-hidden">{one.severity}: </span>
              <a href={alertPath(one, at)}>{alertText(one)}</a>
              {one.project && !at.project && <small> {one.project.name}</small>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
