// All that the user is told, on one page: decisions, alerts, mails, the own threshold, and the project's webhook.
import { alertsPath, useAlerts, useOwnPlace } from "../alerts/alerts";
import { FirstAlerts } from "../alerts/FirstAlerts";
import { Page } from "../components/Page";
import { useNames } from "../lib/names";
import type { Place } from "../lib/paths";
import { Inbox } from "../notifications/Inbox";
import { Mails } from "../notifications/Mails";
import { ProjectWebhook } from "../notifications/ProjectWebhook";
import { Threshold } from "../notifications/Threshold";
import { useRights } from "../session/rights";

export default function Notifications() {
  const at = useOwnPlace();
  return (
    <Page title="My notifications">
      <p class="lead">What was decided, what ends soon or nears its limit, and what you get by mail.</p>
      <div class="notifications">
        <Inbox />
        {at && <OwnPlace at={at} />}
        <Mails />
      </div>
    </Page>
  );
}

function OwnPlace({ at }: { at: Place }) {
  useNames(at);
  const rights = useRights(at);
  return (
    <>
      <AlertsOf at={at} />
      {at.project && rights?.project.show && <Threshold at={at} />}
      {at.project && rights?.project.set_webhook && <ProjectWebhook at={at} />}
    </>
  );
}

function AlertsOf({ at }: { at: Place }) {
  const answer = useAlerts(at);
  if (!answer || answer.alerts.length > 0) return <FirstAlerts at={at} />;
  return (
    <section class="card" aria-label="Alerts">
      <header class="card-head">
        <h2>Alerts</h2>
        <a href={alertsPath(at)}>All alerts</a>
      </header>
      <p class="card-body">Nothing ends soon, and nothing nears its limit.</p>
    </section>
  );
}
