// What is near its limit, ends soon or fails: in the cloud, a domain or a project.
import { useRoute } from "preact-iso";
import { alertPath, alertText, stateOfAlert } from "../alerts/words";
import { loadAlerts } from "../api/attention";
import type { Alert, AlertsAnswer } from "../api/schema";
import { Content } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { Nothing } from "../components/Nothing";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { StateMark } from "../components/StateMark";
import { useAddress } from "../lib/address";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { formatTime, relative } from "../lib/time";
import { counted, countedOf } from "../lib/words";

/** What the API gives at once. */
const MOST = 1000;

interface Answer extends AlertsAnswer {
  loadedAt: number;
}

export default function Alerts() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  const load = async (signal: AbortSignal): Promise<Answer> => ({ ...(await loadAlerts(at, MOST, signal)), loadedAt: Date.now() / 1000 });
  const loaded = useLoad(load, [at]);
  const id = project ?? domain;
  return (
    <Page title="Alerts" kind={id && nameOf(id)} crumbs={crumbsTo(at, true)} actions={<button onClick={loaded.reload}>Reload</button>}>
      <p class="lead">What is near its limit, what ends soon, and what fails. Critical alerts come first.</p>
      <Content of={loaded}>{(answer) => <List at={at} answer={answer} />}</Content>
    </Page>
  );
}

const kindText = (kind: string): string => kind.charAt(0).toUpperCase() + kind.slice(1).replaceAll("_", " ");

function List({ at, answer: { alerts: all, counts, loadedAt } }: { at: Place; answer: Answer }) {
  const [choices, change] = useAddress();
  const { kind = "", search = "" } = choices;
  if (all.length === 0) return <Nothing text="There are no alerts." checkedAt={loadedAt} />;
  const text = search.trim().toLowerCase();
  const rows = all.filter(
    (one) => (!kind || one.kind === kind) && [alertText(one), one.project?.name ?? "", one.project?.domain.name ?? ""].some((part) => part.toLowerCase().includes(text)),
  );
  const total = counts.critical + counts.warning;
  const kinds = [...new Set(all.map((one) => one.kind))].map((value) => ({ value, title: kindText(value) }));
  return (
    <>
      <div class="tools">
        <Select label="Kind" value={kind} options={[{ value: "", title: "All kinds" }, ...kinds]} choose={(value) => change({ kind: value })} />
        <Field label="Search" name="search" type="search" value={search} onInput={(value) => change({ search: value })} />
        <p class="muted" role="status">
          {rows.length < all.length ? countedOf(rows.length, total, "alert") : `${counted(total, "alert")}, ${counts.critical.toLocaleString("en")} critical`}
          {total > all.length && `; these are the first ${all.length.toLocaleString("en")}`}
        </p>
      </div>
      <DataTable
        caption="Alerts"
        columns={columnsAt(at)}
        rows={rows}
        rowKey={(one) => JSON.stringify([one.kind, one.severity, one.project?.id, one.service, one.resource, one.commitment?.id, one.capacitor])}
        order={{ key: "api", isDescending: false }}
        empty={<p class="empty">Nothing matches.</p>}
        isWrapped={rows.length <= 200}
      />
    </>
  );
}

function columnsAt(at: Place): Column<Alert>[] {
  const what: Column<Alert> = {
    key: "what",
    title: "Alert",
    isHeader: true,
    class: "text",
    render: (one) => <a href={alertPath(one, at)}>{alertText(one)}</a>,
    csv: [
      { title: "Kind", value: (one) => one.kind },
      { title: "Alert", value: alertText },
    ],
  };
  return [what, SEVERITY, ...(at.project ? [] : [PROJECT]), ...(at.domain ? [] : [DOMAIN]), SINCE];
}

const SEVERITY: Column<Alert> = {
  key: "severity",
  title: "Severity",
  sortBy: (one) => one.severity,
  render: (one) => <StateMark state={stateOfAlert(one)} text={one.severity} />,
};

const PROJECT: Column<Alert> = {
  key: "project",
  title: "Project",
  sortBy: (one) => one.project?.name ?? "",
  render: ({ project }) => project && <a href={pagePath({ domain: project.domain.id, project: project.id })}>{project.name}</a>,
};

const DOMAIN: Column<Alert> = {
  key: "domain",
  title: "Domain",
  sortBy: (one) => one.project?.domain.name ?? "",
  render: ({ project }) => project && <a href={pagePath({ domain: project.domain.id })}>{project.domain.name}</a>,
};

const SINCE: Column<Alert> = {
  key: "since",
  title: "Since",
  sortBy: (one) => one.since ?? 0,
  render: ({ since }) => (since === undefined ? "" : <span title={formatTime(since)}>{relative(since)}</span>),
  csv: [{ title: "Since (UTC)", value: (one) => (one.since === undefined ? undefined : new Date(one.since * 1000).toISOString()) }],
};
